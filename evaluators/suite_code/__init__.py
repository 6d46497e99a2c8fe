"""Python files that a suite brings: evaluators, actions and setup operations of its own."""
