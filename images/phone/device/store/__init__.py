"""The phone's state: an SQLite file, and snapshots of it."""
