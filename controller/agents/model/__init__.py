"""The agent that queries a model: screenshots in, tool calls out."""
