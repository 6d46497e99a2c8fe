"""The software inside the reference phone; uses only Python's standard library and Pillow."""
