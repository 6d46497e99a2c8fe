"""The applications of the reference phone."""
