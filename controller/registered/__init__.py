"""Suites and agents of users, copied by digest, so that queue, schedules and API can name them."""
