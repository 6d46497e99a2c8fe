"""Records screens into videos that remain playable even if the recorder is killed."""
