"""The appliance: base library, command line, doctor and bring-up."""
