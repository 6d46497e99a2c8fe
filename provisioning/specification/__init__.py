"""What a custom image says about its machines: its session, its specification, standard checks."""
