"""noVNC for live screens on the web pages: from npm, else the distribution's package."""
