"""Making of a persona: one module for each part of a life."""
