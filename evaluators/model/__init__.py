"""Tasks, subtasks and suites as data, and how they are read from files."""
