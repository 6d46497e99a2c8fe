"""The guest itself: processes, sessions, programs, files, settings, digests."""
