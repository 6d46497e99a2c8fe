"""Commands against the service of another host: the same output, over HTTP."""
