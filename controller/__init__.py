"""Run trials: episodes, agents, actions, store, wiring."""
