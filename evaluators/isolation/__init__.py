"""Child processes in which evaluators run, killed at a deadline."""
