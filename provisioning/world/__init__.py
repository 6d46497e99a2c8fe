"""Worlds: the network services of one trial, filled with the life of one person."""
