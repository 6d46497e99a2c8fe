"""Benchmarks of the design's goals, each compared with the obvious alternative in one run."""
