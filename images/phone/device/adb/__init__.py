"""The device side of the Android Debug Bridge."""
