"""A small widget toolkit: one tree of views yields both the picture and the UI hierarchy."""
