"""Run the trials of a run: protocol, events, and the executor of this host."""
