"""Registered suites and agents of users: copies by digest for the queue, schedules and API."""
