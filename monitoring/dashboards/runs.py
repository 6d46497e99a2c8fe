"""The dashboard *Runs*: verdicts, reasons, where time goes, queue and schedules."""

from __future__ import annotations

from monitoring.dashboards.model import RANGE, Dashboard, Panel, Query, one, quantiles

_DECIDED = 'mesocosm_verdicts_total{verdict=~"PASS|FAIL"}'

RUNS = Dashboard(
    "runs",
    "Runs",
    "What trials came to, why they ended, where their time goes, and what waits.",
    (
        Panel(
            "Trials by verdict",
            one("sum by (verdict) (mesocosm_verdicts_total)", "{{verdict}}"),
            kind="figure",
            description="Of all trials ever, whoever ran them.",
        ),
        Panel(
            "Inconclusive attempts, last hour",
            one("mesocosm:inconclusive:ratio_1h", "of all attempts"),
            "ratio",
            "figure",
            "Attempts that infrastructure, evaluator or wall clock ended, of all but cancelled ones.",
        ),
        Panel("Queue", one("mesocosm_queue_runs", "{{state}}"), kind="figure"),
        Panel(
            "Open trials",
            one("mesocosm_queue_open_trials", "of runs that go on"),
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
            description="PASS of PASS and FAIL, over trials; `mesocosm results` has intervals over tasks.",
        ),
        Panel(
            "Trials by verdict, an hour",
            one("sum by (verdict) (increase(mesocosm_verdicts_total[1h]))", "{{verdict}}"),
        ),
        Panel(
            "How attempts ended, an hour",
            one("sum by (reason) (increase(mesocosm_trials_ended_total[1h])) > 0", "{{reason}}"),
        ),
        Panel("Length of trials", quantiles("trial_seconds", "suite", 0.5, 0.95), "seconds"),
        Panel(
            "Where the time of steps goes",
            one(f"sum by (phase) (rate(mesocosm_step_seconds_sum[{RANGE}]))", "{{phase}}"),
            "ratio",
            description="Seconds a second; trials that run side by side add up to more than 1.",
        ),
        Panel("Parts of a step", quantiles("step_seconds", "phase", 0.95), "seconds"),
        Panel(
            "Steps a minute",
            one(f"sum by (agent) (rate(mesocosm_steps_total[{RANGE}])) * 60", "{{agent}}"),
            "per_minute",
        ),
        Panel(
            "Evaluator errors, an hour",
            one(
                "sum by (suite, evaluator) (increase(mesocosm_evaluator_errors_total[1h]))",
                "{{suite}} {{evaluator}}",
            ),
            description="Checks that were undecided at the end of a trial by their evaluator's fault.",
        ),
        Panel(
            "Slots of schedules, an hour",
            one("delta(mesocosm_schedule_slots[1h])", "{{outcome}}"),
        ),
        Panel(
            "Waits",
            (
                Query("mesocosm_queue_longest_wait_seconds", "run that waits longest"),
                Query("mesocosm_schedule_late_seconds", "slot that is latest"),
            ),
            "seconds",
        ),
    ),
)
