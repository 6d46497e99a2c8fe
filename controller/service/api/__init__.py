"""The HTTP API: FastAPI over queue, schedules, runs and what the appliance says of itself."""
