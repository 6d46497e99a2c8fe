"""Play the recorded actions of a trial again: to look at it once more, or to compare machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controller.actions.space import Action
from controller.protocol import Turn
from controller.store.runs import Store
from foundation.errors import AgentError, UnknownNameError
from foundation.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.episode.episode import Episode
    from controller.observation.observer import Observation
    from controller.store.runs import RunFolder


@dataclass(frozen=True, slots=True)
class ReplayDriver:
    """Drives an episode with the actions that a run has recorded for the same task.

    Attributes:
        run: id of the recorded run.
    """

    run: str

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Play the actions that were executed, one per turn, then declare the task done.

        Raises:
            AgentError: the run has no trial of the task, or its trial executed no action.
            StoreError: the log cannot be read or written.
        """
        del observation
        context = episode.oracle_context()
        task, seed = context.task.id, context.agent.seed
        actions = recorded_actions(Store(get_settings().runs_dir).open(self.run), task, seed)
        for action in [*actions, Action("complete")]:
            if episode.step(Turn((action,))).done:
                return


def recorded_actions(run: RunFolder, task: str, seed: int = -1) -> Sequence[Action]:
    """Return the actions that were executed in a recorded trial of a task.

    Args:
        run: the recorded run.
        task: id of the task.
        seed: of the trial; the first trial of the task is taken if none has it.

    Raises:
        AgentError: there is none.
        StoreError: its log is damaged.
    """
    trials = [
        attempts[-1].events
        for name, repeat in run.spec.planned
        if name == task and (attempts := run.attempts(name, repeat))
    ]
    chosen = next((events for events in trials if _seed_of(events) == seed), None)
    events = chosen or next(iter(trials), [])
    rows = [event["action"] for event in events if event["type"] == "step" and event["action"]]
    if not rows:
        raise AgentError(
            f"The run {run.spec.run} has no executed action of the task {task}.",
            resolution="Replay a run of the same suite whose trials were played.",
        )
    return [Action(row["do"], row["on"], row["with"]) for row in rows]


def require_run(name: str) -> str:
    """Return the id of a recorded run.

    Raises:
        UnknownNameError: there is no such run.
        StoreError: it cannot be read.
    """
    store = Store(get_settings().runs_dir)
    try:
        return store.open(name).spec.run
    except UnknownNameError as exc:
        raise UnknownNameError(exc.brief, exc.details, "Pass a run's id: --replay RUN.") from exc


def _seed_of(events: Sequence[dict[str, Any]]) -> int | None:
    return next((event.get("seed") for event in events if event["type"] == "start"), None)
