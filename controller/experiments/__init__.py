"""Experiments: several agents and observations on one suite, as one comparison."""
