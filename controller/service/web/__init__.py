"""The service's pages: rendered on the server, with all text of guests and agents escaped."""
