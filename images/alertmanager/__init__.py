"""The Alertmanager image: upstream's if a registry provides it, else the distribution's."""
