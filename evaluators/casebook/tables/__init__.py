"""Tables of cases; each module here has a tuple ``TABLES``."""
