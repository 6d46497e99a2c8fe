"""Adapter for OpenAI-compatible endpoints: the only place that knows their wire format."""
