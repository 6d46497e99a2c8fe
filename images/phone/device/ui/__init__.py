"""A small widget toolkit: one tree of views produces both the picture and the UI hierarchy."""
