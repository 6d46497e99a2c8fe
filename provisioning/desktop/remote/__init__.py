"""Desktops elsewhere: reached over SSH, reset by their owner's own command."""
