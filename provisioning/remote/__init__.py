"""Desktops that run somewhere else: reached over SSH, reset by their owner's own command."""
