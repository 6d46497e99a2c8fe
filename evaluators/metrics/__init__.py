"""Metrics of trials, of an agent's path through a graph, and of tasks."""

from evaluators.metrics.trials import Metrics, TrialScore, measure

__all__ = ["Metrics", "TrialScore", "measure"]
