"""Judge a trial by a graph of evaluators."""
