"""Messages about runs of schedules: written with the run's end, delivered by webhook and mail."""
