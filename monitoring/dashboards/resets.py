"""The dashboard *Resets*: how long they take, and whether they hold."""

from __future__ import annotations

from monitoring.dashboards.model import RANGE, Dashboard, Panel, one, quantiles

_FAILED = 'mesocosm_resets_total{result!="ok"}'

RESETS = Dashboard(
    "resets",
    "Resets",
    "How fast machines come back to their snapshots, and which did not come back exactly.",
    (
        Panel(
            "Resets",
            one("sum by (kind, result) (mesocosm_resets_total)", "{{kind}} {{result}}"),
            kind="figure",
        ),
        Panel(
            "Failed, last day",
            one(f"sum by (kind) (increase({_FAILED}[1d]))", "{{kind}}"),
            kind="figure",
            description="Such a machine is thrown away; the trial gets another.",
        ),
        Panel(
            "Median, last hour",
            one(
                "histogram_quantile(0.5, sum by (le, kind, path)"
                " (rate(mesocosm_rewind_seconds_bucket[1h])))",
                "{{kind}} {{path}}",
            ),
            "seconds",
            "figure",
        ),
        Panel(
            "To verified ready, by path",
            quantiles("rewind_seconds", "kind, path", 0.5, 0.99),
            "seconds",
        ),
        Panel(
            "To verified ready, recorded",
            (
                *one("mesocosm:rewind_seconds:p50_5m", "{{kind}} p50"),
                *one("mesocosm:rewind_seconds:p99_5m", "{{kind}} p99"),
            ),
            "seconds",
        ),
        Panel(
            "Resets a minute",
            one(
                f"sum by (kind, path) (rate(mesocosm_resets_total[{RANGE}])) * 60",
                "{{kind}} {{path}}",
            ),
            "per_minute",
        ),
        Panel(
            "Failures, an hour",
            one(
                f"sum by (kind, path, result) (increase({_FAILED}[1h]))",
                "{{kind}} {{path}} {{result}}",
            ),
        ),
        Panel(
            "Calls to probes that failed, an hour",
            one("sum by (code) (increase(mesocosm_link_errors_total[1h]))", "{{code}}"),
        ),
        Panel(
            "Load of the host",
            one("mesocosm_host_load_ratio", "programs that want to run, over processors"),
            "ratio",
            description="Over 1, resets wait for a processor.",
        ),
    ),
)
