"""Shells of the phone, what they may run, and how all of it is ended."""
