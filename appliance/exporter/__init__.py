"""The controller's metrics for Prometheus in addition to measures, read on each scrape."""
