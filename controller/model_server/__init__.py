"""A stand-in for models' servers: speaks the vendors' APIs on loopback, and replies by a script."""
