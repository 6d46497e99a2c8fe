"""The image of Prometheus: upstream's where a registry gives it, else the distribution's."""
