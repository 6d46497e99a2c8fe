"""Streams between programs of a guest and services outside it, multiplexed over one channel."""
