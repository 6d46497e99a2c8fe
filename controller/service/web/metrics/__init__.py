"""The page Metrics: the dashboards' panels, drawn from what Prometheus answers."""
