"""Actions of agents: typed functions, grouped by the place that they act on."""
