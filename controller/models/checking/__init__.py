"""Checks of a model: whether it sees, calls tools, and means the places that it names."""
