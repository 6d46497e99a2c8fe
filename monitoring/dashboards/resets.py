"""The dashboard *Resets*: their duration, and whether they succeed."""

from __future__ import annotations

from monitoring.dashboards.model import RANGE, Dashboard, Panel, one, quantiles

_FAILED = 'mesocosm_resets_total{result!="ok"}'

RESETS = Dashboard(
    "resets",
    "Resets",
    "How fast machines return to their snapshots, and which resets did not match exactly.",
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
            description="Such a machine is discarded; the trial gets another one.",
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
            "Resets per minute",
            one(
                f"sum by (kind, path) (rate(mesocosm_resets_total[{RANGE}])) * 60",
                "{{kind}} {{path}}",
            ),
            "per_minute",
        ),
        Panel(
            "Failures per hour",
            one(
                f"sum by (kind, path, result) (increase({_FAILED}[1h]))",
                "{{kind}} {{path}} {{result}}",
            ),
        ),
        Panel(
            "Failed probe calls per hour",
            one("sum by (code) (increase(mesocosm_link_errors_total[1h]))", "{{code}}"),
        ),
        Panel(
            "Host load",
            one("mesocosm_host_load_ratio", "runnable processes per processor"),
            "ratio",
            description="Above 1, resets wait for a processor.",
        ),
    ),
)
