"""Child processes for evaluators, killed at a deadline."""
