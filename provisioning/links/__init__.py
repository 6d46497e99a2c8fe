"""Talk with probes: one client over transports of several kinds."""
