"""Personas: the linked life of one person, from a seed."""
