"""Schedules: runs that are queued at set times, one record a slot."""
