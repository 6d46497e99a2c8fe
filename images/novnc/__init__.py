"""noVNC, which shows live screens on the pages: from npm, else the distribution's package."""
