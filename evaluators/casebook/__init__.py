"""Cases that show of each evaluator that it passes rightly and cannot pass wrongly."""
