"""The worker: executes queued runs on the machines of this host."""
