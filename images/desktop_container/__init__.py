"""The desktop guest's root file system as a container image, with a session that has run once."""
