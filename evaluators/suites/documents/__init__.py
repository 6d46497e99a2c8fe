"""Tasks whose results are documents: their text, formatting and design."""
