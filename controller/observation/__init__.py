"""What agents are shown, and when a screen counts as settled."""
