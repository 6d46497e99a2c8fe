"""The reference phone in a container: machine, console, snapshots."""
