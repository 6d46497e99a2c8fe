"""Recipes and the builder that turns them into content-addressed images."""
