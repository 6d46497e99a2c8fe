"""Evaluators of what a machine shows; they run on the host, on a picture of its screen."""
