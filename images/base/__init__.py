"""The minimal system that all docker images of the appliance are based on."""
