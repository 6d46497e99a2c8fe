"""Client of a service's episode API, sync and async; requires httpx and pydantic only."""
