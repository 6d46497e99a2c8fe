"""Sizes of the pictures that models are sent, and what their coordinates refer to."""
