"""What a run is: suite, agent, observation, limits and budget, as plain data."""
