"""Drive an episode with turns from outside: a person on a web page, or a remote program."""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.actions.space import Action
    from controller.episode.episode import Episode
    from controller.episode.step import Step
    from controller.observation.observer import Observation
    from controller.protocol import Turn

    Input = Sequence[Action] | Turn


class HumanDriver:
    """Passes turns to an episode and returns its steps; thread-safe.

    The code that serves the person calls ``send``, the trial's thread calls ``drive``. The time
    between two turns is charged like an agent's.

    Args:
        poll_s: interval of checking the limits while no turn arrives, seconds.
    """

    def __init__(self, *, poll_s: float = 0.5) -> None:
        self._poll_s = poll_s
        self._turns: queue.SimpleQueue[Input] = queue.SimpleQueue()
        self._steps: queue.SimpleQueue[Step | Observation] = queue.SimpleQueue()

    def send(self, turn: Input) -> None:
        """Queue a turn for execution after earlier ones."""
        self._turns.put(turn)

    def receive(self, timeout_s: float) -> Step | Observation:
        """Return the next result: the first observation, then one step per turn.

        Raises:
            TimeoutError: nothing arrived in time.
        """
        try:
            return self._steps.get(timeout=timeout_s)
        except queue.Empty as exc:
            raise TimeoutError from exc

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Execute incoming turns until the trial is over.

        Raises:
            StoreError: the log cannot be written.
        """
        self._steps.put(observation)
        while True:
            try:
                step = episode.step(self._turns.get(timeout=self._poll_s))
            except queue.Empty:
                if not episode.is_due():
                    continue
                step = episode.step(())
            self._steps.put(step)
            if step.done:
                return
