"""Run one scored trial across a desktop and a phone: the proof that everything works together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.executors.local import run_suite
from controller.store.report import read_report
from controller.wiring import (
    AgentOptions,
    Plan,
    create_run,
    make_context,
    make_driver,
    open_fleet,
    open_suite,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from appliance.base.settings import Settings
    from controller.episode.result import TrialResult
    from controller.store.report import Report

SUITE = "smoke"
TASK = "cross-dark-style"
AGENT = "oracle"


def run_trial(settings: Settings, say: Callable[[str], None]) -> Report:
    """Let the oracle do the suite's cross-device task, and give the scored run.

    Args:
        settings: whose machines and runs.
        say: told in one line how it goes on.

    Raises:
        MesocosmError: the run could not be made; trouble in the trial is in its result.
    """
    plan = Plan(
        suite=open_suite(SUITE),
        agent=AGENT,
        driver=make_driver(AGENT, AgentOptions()),
        tasks=(TASK,),
    )
    context = make_context(plan, open_fleet("real", settings))
    folder = create_run(plan, settings.runs_dir)
    run_suite(plan.suite, folder, context, plan.driver, _Teller(say))
    return read_report(folder)


class _Teller:
    """A `controller.executors.local.Watcher` that says each step in a line."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def trial_began(self, task: str, repeat: int) -> None:
        """Say that machines are being made ready."""
        del repeat
        self._say(f"{task}: getting machines ready")

    def step_done(self, task: str, steps: int) -> None:
        """Count the step."""
        self._say(f"{task}: step {steps}")

    def trial_ended(self, result: TrialResult) -> None:
        """Say the verdict."""
        self._say(f"{result.task}: {result.verdict}")
