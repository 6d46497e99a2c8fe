"""Machines (desktops and phones): how to make, reach, observe, use and reset them."""
