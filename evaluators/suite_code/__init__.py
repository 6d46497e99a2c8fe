"""Python files of a suite, which define its own evaluators, actions and setup operations."""
