"""What the controller tells Prometheus beside measures, read when it asks."""
