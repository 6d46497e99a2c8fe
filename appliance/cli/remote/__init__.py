"""Run commands against the service of another host over HTTP, with the same output."""
