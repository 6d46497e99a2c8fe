"""Reviews a desktop before it is saved as ``ready``, as resets would reproduce any faults."""
