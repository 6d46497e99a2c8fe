"""A small widget toolkit: one tree of views gives both the picture and the UI hierarchy."""
