"""Recognition of text and pictures; engines are imported on demand and created once per process."""
