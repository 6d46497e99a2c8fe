"""Desktops from a vendor's cloud image, set up by cloud-init instead of mmdebstrap."""
