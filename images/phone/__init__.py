"""The reference phone: a container that speaks ADB as Android does."""
