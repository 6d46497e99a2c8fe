"""Run one scored trial across a desktop and a phone, to verify that everything works together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.verify.scored_trial import play_task
from controller.scheduling.events import AttemptLost, StepDone, TrialEnded, TrialStarted
from controller.wiring import open_fleet

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.scheduling.events import TrialEvent
    from controller.store.report import Report
    from foundation.settings import Settings

AGENT = "oracle"
_TRIALS = {"emulator": ("android", "cross-settings")}
_DEFAULT = ("smoke", "cross-dark-style")


def trial_of(settings: Settings) -> tuple[str, str]:
    """Return suite and task, whose applications the chosen kind of phone has."""
    return _TRIALS.get(settings.phone, _DEFAULT)


def run_trial(settings: Settings, say: Callable[[str], None]) -> Report:
    """Run the oracle on a task that uses both devices, and return the report of the scored run.

    Args:
        settings: of the appliance.
        say: called with one line per event.

    Raises:
        MesocosmError: the run could not be created; problems in the trial are in its result.
    """
    name, task = trial_of(settings)
    return play_task(
        name,
        task,
        open_fleet("real", settings),
        settings,
        runs_dir=settings.runs_dir,
        agent=AGENT,
        on_event=lambda event: _report(event, say),
    )


def _report(event: TrialEvent, say: Callable[[str], None]) -> None:
    match event:
        case TrialStarted(trial):
            say(f"{trial.task}: preparing machines")
        case StepDone(trial, _, steps):
            say(f"{trial.task}: step {steps}")
        case AttemptLost(trial, _, result):
            say(f"{trial.task}: {result.reason}, retrying")
        case TrialEnded(trial, _, result):
            say(f"{trial.task}: {result.verdict}")
