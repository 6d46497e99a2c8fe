"""Metrics of trials, of the way an agent went through a graph, and of tasks."""

from evaluators.metrics.intervals import wilson_interval
from evaluators.metrics.trials import Metrics, TrialScore, measure

__all__ = ["Metrics", "TrialScore", "measure", "wilson_interval"]
