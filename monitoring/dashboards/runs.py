"""The dashboard *Runs*: verdicts, reasons, time spent, queue and schedules."""

from __future__ import annotations

from monitoring.dashboards.model import RANGE, Dashboard, Panel, Query, one, quantiles

_DECIDED = 'mesocosm_verdicts_total{verdict=~"PASS|FAIL"}'

RUNS = Dashboard(
    "runs",
    "Runs",
    "Verdicts of trials, why they ended, where their time goes, and what is waiting.",
    (
        Panel(
            "Trials by verdict",
            one("sum by (verdict) (mesocosm_verdicts_total)", "{{verdict}}"),
            kind="figure",
            description="All trials ever, regardless of who ran them.",
        ),
        Panel(
            "Inconclusive attempts, last hour",
            one("mesocosm:inconclusive:ratio_1h", "of all attempts"),
            "ratio",
            "figure",
            "Attempts ended by infrastructure, evaluator or wall clock, out of all except cancelled ones.",
        ),
        Panel("Queue", one("mesocosm_queue_runs", "{{state}}"), kind="figure"),
        Panel(
            "Open trials",
            one("mesocosm_queue_open_trials", "of unfinished runs"),
            kind="figure",
        ),
        Panel(
            "Success rate, last day",
            one(
                'sum by (suite) (increase(mesocosm_verdicts_total{verdict="PASS"}[1d]))'
                f" / (sum by (suite) (increase({_DECIDED}[1d])) > 0)",
                "{{suite}}",
            ),
            "ratio",
            description="PASS / (PASS + FAIL), over trials; `mesocosm results` shows intervals over tasks.",
        ),
        Panel(
            "Trials per hour, by verdict",
            one("sum by (verdict) (increase(mesocosm_verdicts_total[1h]))", "{{verdict}}"),
        ),
        Panel(
            "Ended attempts per hour, by reason",
            one("sum by (reason) (increase(mesocosm_trials_ended_total[1h])) > 0", "{{reason}}"),
        ),
        Panel("Duration of trials", quantiles("trial_seconds", "suite", 0.5, 0.95), "seconds"),
        Panel(
            "Time of steps by phase",
            one(f"sum by (phase) (rate(mesocosm_step_seconds_sum[{RANGE}]))", "{{phase}}"),
            "ratio",
            description="Seconds per second; parallel trials add up to more than 1.",
        ),
        Panel("Phases of a step", quantiles("step_seconds", "phase", 0.95), "seconds"),
        Panel(
            "Steps per minute",
            one(f"sum by (agent) (rate(mesocosm_steps_total[{RANGE}])) * 60", "{{agent}}"),
            "per_minute",
        ),
        Panel(
            "Evaluator errors per hour",
            one(
                "sum by (suite, evaluator) (increase(mesocosm_evaluator_errors_total[1h]))",
                "{{suite}} {{evaluator}}",
            ),
            description="Checks left undecided at the end of a trial because their evaluator failed.",
        ),
        Panel(
            "Schedule slots per hour",
            one("delta(mesocosm_schedule_slots[1h])", "{{outcome}}"),
        ),
        Panel(
            "Waits",
            (
                Query("mesocosm_queue_longest_wait_seconds", "longest-waiting run"),
                Query("mesocosm_schedule_late_seconds", "most overdue slot"),
            ),
            "seconds",
        ),
    ),
)
