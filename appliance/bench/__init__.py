"""Measure what the design promises; each figure beside the obvious alternative, in one run."""
