"""The agent that asks a model: screenshots in, tool calls out."""
