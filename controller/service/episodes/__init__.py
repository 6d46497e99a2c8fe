"""Episodes over HTTP: an external program opens a trial, steps it and evaluates it."""
