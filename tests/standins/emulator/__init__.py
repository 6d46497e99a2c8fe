"""A stand-in of Google's SDK, whose ``emulator`` runs the reference phone's daemon.

It behaves as the emulator where that stopped users: see `tests.standins.emulator.program`.
"""
