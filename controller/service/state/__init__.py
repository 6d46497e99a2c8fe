"""State of the service: queue, schedules, notifications, tokens; it cannot be rebuilt from runs."""
