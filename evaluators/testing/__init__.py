"""Framework for test cases of evaluators, which run without a machine.

The test cases of the built-in evaluators use it, and those of a user's suite can.
"""
