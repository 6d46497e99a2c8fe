"""Access to endpoints of language models."""
