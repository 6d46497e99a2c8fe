"""What runs inside the reference phone: Python's standard library and Pillow only."""
