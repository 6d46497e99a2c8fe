"""CRAB Benchmark-v0, rebuilt by its statistics."""
