"""Dashboards as plain data: *Fleet*, *Runs*, *Resets*, *Cost*, *Health*.

Every renderer reads the same data::

    from monitoring.dashboards.catalog import DASHBOARDS      # tuple[Dashboard, ...]
    from monitoring.dashboards.model import at_range

    for dashboard in DASHBOARDS:                              # .name "fleet", .title "Fleet", .panels
        for panel in dashboard.panels:                        # .title, .kind, .unit, .queries
            for query in panel.queries:                       # .expression, .legend ("{{kind}} p95")
                at_range(query.expression, "5m")              # PromQL that Prometheus accepts

`monitoring.dashboards.grafana` writes them as JSON for Grafana. ``python -m
monitoring.dashboards.grafana`` renews the committed files; a test compares them.
``tests/integration/test_dashboards.py`` runs every expression against a real Prometheus.
"""
