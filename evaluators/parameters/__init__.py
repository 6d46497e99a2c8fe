"""Parameters of tasks: declared in the task, their values drawn from the trial's seed."""
