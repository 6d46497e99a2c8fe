"""Evaluation of a trial by a graph of evaluators."""
