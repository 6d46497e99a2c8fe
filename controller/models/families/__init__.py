"""Families of models that act on screens, each with a format of its own.

A family is five parts, each testable alone: the sizer of pictures, the declaration (prompt and
tools), the parser, the map of coordinates, and the policy of the history.
"""
