"""The live object of a trial: reset, step, close, and the resources that it owns."""
