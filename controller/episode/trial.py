"""Run one trial: an episode and its driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from foundation.errors import EpisodeStartError, StoreError
from foundation.logging import log_context

if TYPE_CHECKING:
    from controller.episode.episode import Episode
    from controller.episode.result import TrialResult
    from controller.observation.observer import Observation
    from evaluators.model.task import Task


class Driver(Protocol):
    """Chooses the actions of an episode: an agent, an oracle, a person, a remote program."""

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Step the episode until it is over.

        Args:
            episode: an episode that was reset.
            observation: the first observation.

        Raises:
            AgentError: the agent cannot continue; this ends the trial, as does any exception.
            StoreError: the log cannot be written.
        """
        ...


def run_trial(episode: Episode, task: Task, driver: Driver, *, seed: int = 0) -> TrialResult:
    """Run one trial to its end, even if it fails.

    Ctrl-C cancels the episode: the result's reason is then ``cancelled``, and
    ``episode.cancel.is_cancelled`` is true.

    Args:
        episode: a new episode.
        task: the task.
        driver: chooses the actions.
        seed: seed for randomized agents.

    Raises:
        StoreError: the log cannot be written.
    """
    try:
        with episode:
            observation = episode.reset(task, seed)
            with log_context(machine=",".join(episode.machine_ids)):
                _drive(episode, driver, observation)
    except (EpisodeStartError, KeyboardInterrupt):
        pass
    return episode.close()


def _drive(episode: Episode, driver: Driver, observation: Observation) -> None:
    try:
        driver.drive(episode, observation)
    except StoreError:
        raise
    except Exception as exc:
        if episode.is_over:
            raise
        episode.fail(exc)
