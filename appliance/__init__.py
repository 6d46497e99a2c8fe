"""The appliance: command line, bring-up, services, doctor, benchmarks."""
