"""Define what each measure means, which labels it takes and how it is bucketed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.measures import Name

PREFIX = "mesocosm_"

# Dense around the targets: rewind p50 1.0 s and p99 1.5 s, libvirt's revert 2.5-8.9 s.
_RESET_BUCKETS_S = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.8, 2.0, 3.0, 5.0, 10.0)
# A standby machine takes 0.3 s, a boot minutes, a wait for memory up to half an hour.
_ACQUIRE_BUCKETS_S = (0.1, 0.25, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 1800.0)
_BOOT_BUCKETS_S = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 300.0)
_STEP_BUCKETS_S = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_TRIAL_BUCKETS_S = (5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """One measure as Prometheus sees it.

    Attributes:
        help: one sentence for ``# HELP``.
        labels: names of the labels, all required; a label missing from a line is empty.
        buckets: upper bounds of a histogram in the measure's unit, ascending; None for a counter.
        zeros: label values of series that are exported as 0 before anything is counted: a series
            that starts at 1 shows no increase.
    """

    help: str
    labels: tuple[str, ...]
    buckets: tuple[float, ...] | None = None
    zeros: tuple[tuple[str, ...], ...] = ()


REASONS = (
    "success",
    "false_completion",
    "declared_infeasible",
    "step_limit",
    "time_limit",
    "token_limit",
    "money_limit",
    "repetition_limit",
    "stalled_limit",
    "invalid_action",
    "agent_error",
    "model_refusal",
    "model_unavailable",
    "machine_ended_by_agent",
    "environment_error",
    "evaluator_error",
    "task_error",
    "wall_limit",
    "cancelled",
)
"""All reasons why a trial ends; a test compares them with `controller.episode.result`."""

_KINDS = ("desktop", "phone")


CATALOG: Mapping[Name, Metric] = {
    "acquire_seconds": Metric(
        "Time from the request for machines to a lease with all machines verified.",
        ("kinds",),
        _ACQUIRE_BUCKETS_S,
    ),
    "rewind_seconds": Metric(
        "Time from the request to verified ready, for each successful reset.",
        ("kind", "path"),
        _RESET_BUCKETS_S,
    ),
    "boot_seconds": Metric(
        "Time from power-on to the probe's first reply.", ("kind",), _BOOT_BUCKETS_S
    ),
    "step_seconds": Metric(
        "Phases of an agent's step: observe, agent, act, settle, evaluate.",
        ("phase",),
        _STEP_BUCKETS_S,
    ),
    "trial_seconds": Metric("Duration of trials, including setup.", ("suite",), _TRIAL_BUCKETS_S),
    "steps_total": Metric("Steps that agents took.", ("suite", "agent")),
    "tokens_total": Metric(
        "Prompt and completion tokens of models.", ("agent", "direction", "model")
    ),
    "money_usd_total": Metric(
        "Cost of models in US dollars, where prices are known.", ("agent", "model")
    ),
    "verdicts_total": Metric("Attempts at trials by verdict.", ("suite", "verdict")),
    "trials_ended_total": Metric(
        "Attempts at trials by the reason they ended.",
        ("reason",),
        zeros=tuple((reason,) for reason in REASONS),
    ),
    "evaluator_errors_total": Metric(
        "Checks at the end of trials that evaluators left undecided, by evaluator.",
        ("suite", "evaluator"),
    ),
    "resets_total": Metric(
        "Resets by path and result.",
        ("kind", "path", "result"),
        zeros=tuple((kind, "rewind", "reset_mismatch") for kind in _KINDS),
    ),
    "link_errors_total": Metric(
        "Calls to probes that failed, by error code.",
        ("code",),
        zeros=(("link_closed",), ("link_timeout",)),
    ),
    "errors_total": Metric("Errors of commands, by error code.", ("code",)),
}
