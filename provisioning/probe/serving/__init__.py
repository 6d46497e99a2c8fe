"""Requests to the probe: channels, framing, the server and its helper processes."""
