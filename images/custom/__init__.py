"""Images of one's own: a folder with ``image.yaml``, provisioned natively as layers on a parent."""
