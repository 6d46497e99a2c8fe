"""Links to probes: one client over several kinds of transports."""
