"""Suites that come with Mesocosm, one folder each."""
