"""The live object behind a trial: reset, step, close, and what it owns."""
