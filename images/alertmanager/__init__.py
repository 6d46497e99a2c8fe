"""The image of Alertmanager: upstream's where a registry gives it, else the distribution's."""
