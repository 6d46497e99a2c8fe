"""The agent's own code in the guest: a Python kernel and a shell, as the agent's user."""
