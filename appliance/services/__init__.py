"""The appliance's services: the Docker engine, the compose project, its ports, addresses and health."""
