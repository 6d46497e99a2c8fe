"""The X display: windows, who owns them, clipboards, keys and typing."""
