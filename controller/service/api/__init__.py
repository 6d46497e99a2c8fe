"""The HTTP API: FastAPI routes for queue, schedules, runs and the appliance's status."""
