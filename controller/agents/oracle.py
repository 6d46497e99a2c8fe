"""Play a task's reference solution through the agents' own actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.clock import wait_until
from appliance.base.errors import AgentError
from controller.actions.space import Action
from controller.agents.protocol import Turn
from controller.observation.settle import DEFAULT_RULE, settle_machine
from evaluators.graph.outcome import Call
from evaluators.model.base import SESSION
from evaluators.model.oracle import Act, WaitFor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.agents.protocol import Seat
    from controller.observation.observer import Observation
    from evaluators.model.oracle import OracleStep, Target
    from provisioning.protocols import Element, Json

_EVERY_S = 0.5
_CHECK_TIMEOUT_S = 15.0
_NAMES_SHOWN = 40


class OracleAgent:
    """Plays steps one by one, and completes after the last.

    Args:
        seat: where it plays.
        steps: what it plays; the task's own reference solution by default, another task's to see
            that it does not pass.
    """

    def __init__(self, seat: Seat, steps: Sequence[OracleStep] | None = None) -> None:
        self._seat = seat
        self._steps = list(seat.task.oracle if steps is None else steps)

    def act(self, observation: Observation) -> Turn:
        """Give the next action; steps that only wait are done on the way.

        Raises:
            AgentError: an element or a condition did not come in time, or an action was refused.
        """
        if observation.feedback:
            raise AgentError(
                "An action of the reference solution failed.", details=observation.feedback
            )
        while self._steps:
            match self._steps.pop(0):
                case WaitFor() as step:
                    self._wait_for(step)
                case Act() as step:
                    return Turn((self._resolve(step),))
        return Turn((Action("complete"),))

    def _resolve(self, step: Act) -> Action:
        args: dict[str, Json] = dict(step.args)
        if step.at is not None:
            args["x"], args["y"] = self._find(step, step.at).bounds.center
        return Action(step.do, step.on, args)

    def _find(self, step: Act, target: Target) -> Element:
        machine = self._seat.machines.get(step.on or "")
        if machine is None:
            raise AgentError(f"The environment has no role {step.on!r}.")
        element = wait_until(
            lambda: target.pick(machine.tree.elements()),
            timeout_s=step.seconds,
            every_s=_EVERY_S,
            clock=self._seat.clock,
        )
        if element is None:
            seen = [each.name for each in machine.tree.elements() if each.name]
            raise AgentError(
                f"No element {target.model_dump(exclude_none=True)} came up on {step.on} "
                f"within {step.seconds:g} s.",
                details=f"There is: {', '.join(seen[:_NAMES_SHOWN])}",
            )
        return element

    def _wait_for(self, step: WaitFor) -> None:
        check = step.wait_for
        runner = self._seat.runners.get(check.on)
        if runner is None:
            raise AgentError(f"The environment has no role {check.on!r}.")
        call = Call("wait-for", check.check, check.args)
        met = wait_until(
            lambda: runner.evaluate([call], timeout_s=_CHECK_TIMEOUT_S)[0].met is True,
            timeout_s=step.seconds,
            every_s=_EVERY_S,
            clock=self._seat.clock,
        )
        if not met:
            where = "" if check.on == SESSION else f" on {check.on}"
            raise AgentError(f"{check.check}{where} was not met within {step.seconds:g} s.")
        if check.on in self._seat.machines:
            # A window that is there may not take keys yet.
            settle_machine(self._seat.machines[check.on], DEFAULT_RULE, self._seat.clock)
