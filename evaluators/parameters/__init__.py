"""Parameters of tasks, whose values are drawn from the trial's seed."""
