"""Task-by-task comparison of two runs: comparable tasks, figures, and their presentation."""
