"""Bring the whole appliance up on a bare host, tell how it is, and take it down again."""
