"""Specifications of images run on their machines, not on this host."""

collect_ignore_glob = ["*/test_*.py"]
