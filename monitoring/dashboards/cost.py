"""The dashboard *Cost*: tokens, money, model time and disk."""

from __future__ import annotations

from monitoring.dashboards.model import RANGE, Dashboard, Panel, Query, one

_USD = "mesocosm_money_usd_total"
_TOKENS = "mesocosm_tokens_total"

COST = Dashboard(
    "cost",
    "Cost",
    "Tokens and cost of models, time agents take, and stored data.",
    (
        Panel(
            "Money, last day",
            one(f"sum by (model) (increase({_USD}[1d]))", "{{model}}"),
            "usd",
            "figure",
            "If prices are known: MESOCOSM_MODEL_USD_PER_MTOK_PROMPT and _COMPLETION.",
        ),
        Panel("Money, total", one(f"sum by (model) ({_USD})", "{{model}}"), "usd", "figure"),
        Panel(
            "Tokens, last day",
            one(
                f"sum by (model, direction) (increase({_TOKENS}[1d]))",
                "{{model}} {{direction}}",
            ),
            kind="figure",
        ),
        Panel(
            "Money per passed trial, last day",
            one(
                f"sum(increase({_USD}[1d]))"
                ' / (sum(increase(mesocosm_verdicts_total{verdict="PASS"}[1d])) > 0)',
                "all models",
            ),
            "usd",
            "figure",
            "Trials of agents without a model are counted too.",
        ),
        Panel(
            "Money per hour",
            one(f"sum by (model) (increase({_USD}[1h]))", "{{model}}"),
            "usd",
        ),
        Panel(
            "Tokens per second",
            one(
                f"sum by (model, direction) (rate({_TOKENS}[{RANGE}]))",
                "{{model}} {{direction}}",
            ),
            "per_second",
        ),
        Panel(
            "Tokens per step",
            one(
                f"sum by (agent) (rate({_TOKENS}[{RANGE}]))"
                f" / (sum by (agent) (rate(mesocosm_steps_total[{RANGE}])) > 0)",
                "{{agent}}",
            ),
        ),
        Panel(
            "Share of time taken by agents",
            one(
                f'sum(rate(mesocosm_step_seconds_sum{{phase="agent"}}[{RANGE}]))'
                f" / (sum(rate(mesocosm_step_seconds_sum[{RANGE}])) > 0)",
                "of the time of all steps",
            ),
            "ratio",
        ),
        Panel("Stored on disk", one("mesocosm_store_bytes", "{{part}}"), "bytes"),
        Panel(
            "Disk",
            (
                Query("mesocosm_disk_free_bytes", "free"),
                Query("mesocosm_disk_size_bytes", "size"),
            ),
            "bytes",
        ),
    ),
)
