"""Record screens into videos that play however their writer ended."""
