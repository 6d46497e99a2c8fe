"""Run trials: sessions, agents, actions, store, wiring."""
