"""The inner loop of a developer, `make test-fast`: fast tests of what changed."""
