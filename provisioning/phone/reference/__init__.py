"""The reference phone, which runs in a container: machine, console, snapshots."""
