"""Check that a device does what Mesocosm asks of it."""
