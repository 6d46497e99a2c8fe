"""Import tasks of other benchmarks as suites: CRAB's composed tasks and OSWorld's tasks."""
