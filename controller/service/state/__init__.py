"""The service's own state: queue, schedules, notifications, tokens; unlike an index, not rebuildable."""
