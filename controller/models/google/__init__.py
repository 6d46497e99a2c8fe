"""The adapter for Google's Gemini API."""
