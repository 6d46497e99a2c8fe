"""Schedules: runs queued at set times, with one record per slot."""
