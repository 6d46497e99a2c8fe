"""The worker: carries out queued runs on the machines of this host."""
