"""The appliance as a service: queue of runs, schedules, worker, API and pages."""
