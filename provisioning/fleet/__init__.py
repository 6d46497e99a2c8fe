"""The fleet of one host: its machines, their leases, and the standby forks."""
