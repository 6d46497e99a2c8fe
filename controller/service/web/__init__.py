"""The service's pages: rendered on the host, all text of guests and agents escaped."""
