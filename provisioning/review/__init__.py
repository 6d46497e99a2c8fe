"""Check what a desktop shows before it is saved as ``ready``: resets reproduce faults faithfully."""
