"""The reference phone: a container that implements ADB like Android."""
