"""Two runs compared task by task: what is comparable, the figures, and their presentation."""
