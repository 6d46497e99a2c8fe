"""Evaluate what an agent did: decorators, graph, evaluators, tasks, suites, metrics."""
