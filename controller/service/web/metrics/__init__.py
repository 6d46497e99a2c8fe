"""The page Metrics: the dashboards' panels, drawn with data from Prometheus."""
