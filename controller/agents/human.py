"""Drive an episode by turns that come from outside: a person on a page, a remote program."""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.actions.space import Action
    from controller.agents.protocol import Turn
    from controller.episode.episode import Episode
    from controller.episode.step import Step
    from controller.observation.observer import Observation

    Input = Sequence[Action] | Turn


class HumanDriver:
    """Passes turns into an episode and steps out of it; safe among threads.

    ``send`` is called by whoever serves the person, ``drive`` by the trial's own thread. The time
    between two turns is charged as an agent's.

    Args:
        poll_s: how often the limits are checked while nothing comes, seconds.
    """

    def __init__(self, *, poll_s: float = 0.5) -> None:
        self._poll_s = poll_s
        self._turns: queue.SimpleQueue[Input] = queue.SimpleQueue()
        self._steps: queue.SimpleQueue[Step | Observation] = queue.SimpleQueue()

    def send(self, turn: Input) -> None:
        """Hand in a turn, to be carried out after those before it."""
        self._turns.put(turn)

    def receive(self, timeout_s: float) -> Step | Observation:
        """Return what came next: the first observation, then one step a turn.

        Raises:
            TimeoutError: nothing came in time.
        """
        try:
            return self._steps.get(timeout=timeout_s)
        except queue.Empty as exc:
            raise TimeoutError from exc

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Carry out the turns that come until the trial is over.

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
