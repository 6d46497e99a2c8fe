"""The adapter for OpenAI's Responses API."""
