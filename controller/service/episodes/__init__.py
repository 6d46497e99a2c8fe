"""Episodes over HTTP: a program elsewhere opens a trial, steps it, and has it judged."""
