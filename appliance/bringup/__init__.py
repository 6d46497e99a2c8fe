"""Bring the appliance up on a bare host, report its status, and take it down again."""
