"""Desktops built from a vendor's cloud image by cloud-init instead of mmdebstrap."""
