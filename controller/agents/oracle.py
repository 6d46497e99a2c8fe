"""Play a task's reference solution through the agents' own actions."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, TypeVar

from controller.actions.space import Action
from controller.observation.settle import DEFAULT_RULE, settle_machine
from controller.protocol import Turn
from evaluators.coordinates import points_of
from evaluators.graph.outcome import Call
from evaluators.model.oracle import Act, WaitFor
from evaluators.strict import SESSION
from foundation.clock import wait_until
from foundation.errors import (
    AgentError,
    GuestCallError,
    InvalidActionError,
    LinkTimeoutError,
)
from provisioning.protocols import Search, TreeSearching

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.episode.episode import Episode
    from controller.episode.step import OracleContext
    from controller.observation.observer import Observation
    from evaluators.model.oracle import OracleStep, Target
    from evaluators.model.task import Task
    from provisioning.protocols import Element, Json, Machine

    StepsOf = Callable[[Task, int], Sequence[OracleStep]]

T = TypeVar("T")

_LOG = logging.getLogger(__name__)

_EVERY_S = 0.5
_CHECK_TIMEOUT_S = 15.0
_NAMES_SHOWN = 40
_CUTS = {
    "nodes": "the tree has too many elements",
    "time": "the machine did not read its whole tree in time",
    "silent": "a program did not answer",
}
_IN_MEMORY = "fake"
_PATIENCE_IN_MEMORY_S = 1.0
"""Maximum wait on fake machines: nothing starts slowly there."""


def reference_steps(task: Task, seed: int) -> Sequence[OracleStep]:
    """Return a task's own reference solution, in which parameters are already bound."""
    del seed
    return next(iter(task.solutions.values()))


def named_steps(name: str) -> StepsOf:
    """Return a function that returns a task's named reference solution, or else its first one."""
    if not name:
        return reference_steps

    def steps_of(task: Task, seed: int) -> Sequence[OracleStep]:
        return task.solutions.get(name) or reference_steps(task, seed)

    return steps_of


@dataclass(frozen=True, slots=True)
class OracleDriver:
    """Drives an episode with a reference solution.

    Attributes:
        steps_of: returns the steps to play for a task and a seed; by default its own reference
            solution, or another task's to check that it does not pass.
    """

    steps_of: StepsOf = reference_steps

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Play the steps and complete.

        Raises:
            AgentError: the reference solution cannot be played.
            LinkError: a machine failed.
            StoreError: the log cannot be written.
        """
        context = episode.oracle_context()
        oracle = Oracle(context, self.steps_of(context.task, context.agent.seed))
        while not (step := episode.step(oracle.act(observation))).done:
            observation = step.observation


class Oracle:
    """Plays steps in sequence, and completes after the last.

    Args:
        context: context of the trial.
        steps: steps to play.
    """

    def __init__(self, context: OracleContext, steps: Sequence[OracleStep]) -> None:
        self._context = context
        self._steps = list(steps)
        self._done = 0
        self._last = ""

    def act(self, observation: Observation) -> Turn:
        """Return the next action after executing the wait steps before it.

        Raises:
            AgentError: an element or condition did not occur in time, or an action was rejected.
            LinkError: a machine failed.
        """
        if observation.feedback:
            raise AgentError(f"{self._last}: rejected.", details=observation.feedback)
        while self._done < len(self._steps):
            step = self._steps[self._done]
            self._done += 1
            self._last = f"step {self._done} of {len(self._steps)}, {_name_of(step)}"
            try:
                match step:
                    case WaitFor():
                        self._wait_for(step)
                    case Act():
                        return Turn((self._resolve(step),))
            except AgentError as exc:
                raise AgentError(f"{self._last}: {exc.brief}", exc.details) from exc
        return Turn((Action("complete"),))

    def _resolve(self, step: Act) -> Action:
        args: dict[str, Json] = dict(step.args)
        if step.at is not None:
            center = self._find(step, step.at).bounds.center
            args |= dict(zip(self._target(step), center, strict=True))
        return Action(step.do, step.on, args)

    def _target(self, step: Act) -> tuple[str, str]:
        """Return the names of the coordinates that `at` determines."""
        try:
            tool = self._context.agent.space.find(Action(step.do, step.on))
        except InvalidActionError as exc:
            raise AgentError(exc.brief, exc.details, exc.resolution) from exc
        if not (points := points_of(tool)):
            raise AgentError(f"{step.do} takes no point on the screen.")
        return points[0]

    def _find(self, step: Act, target: Target) -> Element:
        machine = self._context.machines.get(step.on or "")
        if machine is None:
            raise AgentError(f"The environment has no role {step.on!r}.")

        cut = ""

        def look() -> Element | None:
            nonlocal cut
            try:
                seen = _search(machine, target)
                cut = seen.cut
                return target.pick(seen.elements)
            except (
                GuestCallError,
                LinkTimeoutError,
            ) as exc:  # a large program is starting on a busy host
                _LOG.info("%s: %s", machine.info.machine_id, exc)
                return None

        timeout_s = self._patience_s(step.seconds)
        element = self._until(look, timeout_s)
        if element is None:
            there = _nearest(machine.tree.elements(), target.name or "")
            limits = f" The search ended early ({_CUTS.get(cut, cut)})." if cut else ""
            raise AgentError(
                f"No element {target.model_dump(exclude_none=True)} appeared on {step.on} "
                f"within {timeout_s:g} s.{limits}",
                details=f"Existing elements: {', '.join(there[:_NAMES_SHOWN])}",
            )
        return element

    def _wait_for(self, step: WaitFor) -> None:
        check = step.wait_for
        runner = self._context.runners.get(check.on)
        if runner is None:
            raise AgentError(f"The environment has no role {check.on!r}.")
        call = Call("wait-for", check.check, check.args)

        def is_met() -> bool:
            return runner.evaluate([call], timeout_s=_CHECK_TIMEOUT_S)[0].met is True

        timeout_s = self._patience_s(step.seconds)
        if not self._until(is_met, timeout_s):
            where = "" if check.on == SESSION else f" on {check.on}"
            raise AgentError(f"{check.check}{where} was not met within {timeout_s:g} s.")
        if check.on in self._context.machines:
            # An existing window may not accept keyboard input yet.
            settle_machine(self._context.machines[check.on], DEFAULT_RULE, self._context.clock)

    def _patience_s(self, timeout_s: float) -> float:
        """Return the maximum wait, seconds."""
        backends = {machine.info.backend for machine in self._context.machines.values()}
        return min(timeout_s, _PATIENCE_IN_MEMORY_S) if backends == {_IN_MEMORY} else timeout_s

    def _until(self, probe: Callable[[], T | None], timeout_s: float) -> T | None:
        clock = self._context.clock
        return wait_until(probe, timeout_s=timeout_s, every_s=_EVERY_S, clock=clock)


def _search(machine: Machine, target: Target) -> Search:
    """Search on the machine if its tree can be searched there."""
    tree = machine.tree
    if isinstance(tree, TreeSearching) and target.resource_id is None:
        return tree.search(name=target.name, role=target.role, count=target.index + 1)
    return Search(tree.elements())


def _name_of(step: OracleStep) -> str:
    match step:
        case WaitFor(wait_for=check):
            return f"wait for {check.check} on {check.on}"
        case Act(do=do, on=on):
            return f"{do} on {on or SESSION}"


def _nearest(elements: Sequence[Element], name: str) -> list[str]:
    """Return the named elements with their roles, those with the most similar names first."""
    shown = dict.fromkeys(
        (element.name, element.role) for element in elements if element.name.strip()
    )
    is_like = SequenceMatcher(None, b=name.casefold())

    def likeness(row: tuple[str, str]) -> float:
        is_like.set_seq1(row[0].casefold())
        return is_like.ratio()

    ordered = sorted(shown, key=likeness, reverse=True) if name else list(shown)
    return [f"{label!r} ({role})" for label, role in ordered]
