"""Trajectories of trials for training: read from event logs, written as ATIF and as messages."""
