"""What a machine may reach, and the proxy that enforces it."""
