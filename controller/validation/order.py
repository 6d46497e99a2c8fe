"""Find nodes that a reference solution does not meet in their turn, and credit that it loses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from controller.agents.oracle import Oracle, reference_steps

if TYPE_CHECKING:
    from controller.agents.oracle import StepsOf
    from controller.episode.episode import Episode
    from controller.observation.observer import Observation


@dataclass(frozen=True, slots=True)
class OrderDriver:
    """Plays reference solutions like `OracleDriver`, and notes nodes that were met before their turn.

    A node was met before its turn if it was met before the step in which the last of its
    predecessors was met, and still is after this step: its place in the graph then proves nothing,
    and the node counts for nothing. A node that its predecessor undoes, such as *Wi-Fi on* after
    *Wi-Fi off*, is met in its turn.

    Attributes:
        steps_of: returns the steps to play for a task and a seed.
        early: the nodes that were met before their turn, by task.
        credits: how many nodes would have credit if the solution ended after each of its steps, by
            task; None does not ask, which saves an evaluation of the graph a step.
    """

    steps_of: StepsOf = reference_steps
    early: dict[str, set[str]] = field(default_factory=dict)
    credits: dict[str, list[int]] | None = None

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Play the steps and complete.

        Raises:
            AgentError: the reference solution cannot be played.
            LinkError: a machine failed.
            StoreError: the log cannot be written.
        """
        context = episode.oracle_context()
        oracle = Oracle(context, self.steps_of(context.task, context.agent.seed))
        found = self.early.setdefault(context.task.id, set())
        credit: list[int] = []
        if self.credits is not None:
            self.credits[context.task.id] = credit
        while True:
            turn = oracle.act(observation)
            before = episode.met_early()
            step = episode.step(turn)
            found.update(node for node in step.newly_met if node in before)
            if step.done:
                return
            if self.credits is not None:
                credit.append(len(episode.evaluate().met))
            observation = step.observation
