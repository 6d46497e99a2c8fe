"""Write test cases for evaluators and run them, without a machine.

The cases of the shipped evaluators are written with it, and those of a user's suite can be.
"""
