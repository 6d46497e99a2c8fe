"""The X display: windows and their owners, clipboards, keys and typing."""
