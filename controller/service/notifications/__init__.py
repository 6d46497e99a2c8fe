"""Messages about scheduled runs: written when the run ends, delivered by webhook and mail."""
