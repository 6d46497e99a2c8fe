"""The phone's state: one SQLite file, and snapshots of it."""
