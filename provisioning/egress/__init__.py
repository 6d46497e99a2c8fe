"""Egress: the destinations that a machine may reach, and the proxy that enforces them."""
