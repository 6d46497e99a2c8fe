"""CRAB's composed tasks: their files, and what each of its subtasks is here."""
