"""The small system every docker image of the appliance stands on."""
