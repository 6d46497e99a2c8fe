"""The suite that shows that an appliance works."""
