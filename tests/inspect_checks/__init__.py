"""Checks that run where Inspect is installed, which the locks cannot have; see `test_inspect.py`."""
