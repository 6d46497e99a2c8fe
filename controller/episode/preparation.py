"""Execute a task's setup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.observation.settle import DEFAULT_RULE, settle_machine
from evaluators.graph.outcome import Call
from evaluators.model.oracle import WaitFor
from evaluators.model.suite_files import located
from evaluators.model.task import SUDO_PASSWORD
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import (
    ActionError,
    GuestCallError,
    RequirementError,
    SpecError,
    UnsupportedError,
)
from foundation.host_load import Patience, stretched
from provisioning.protocols import SudoCapable
from provisioning.registry import registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.catalogue import Vocabulary
    from evaluators.graph.outcome import WaveRunner
    from evaluators.model.oracle import SetupEntry, SetupStep
    from evaluators.model.task import Task
    from foundation.clock import Clock
    from provisioning.protocols import Machine, Resource


_EVERY_S = 0.5
_CHECK_TIMEOUT_S = 30.0


def prepare(
    task: Task,
    machines: Mapping[str, Machine],
    vocabulary: Vocabulary,
    runners: Mapping[str, WaveRunner] | None = None,
    clock: Clock = SYSTEM_CLOCK,
    *,
    resources: Mapping[str, Resource] | None = None,
) -> None:
    """Execute a task's setup steps in order.

    Args:
        task: the task.
        machines: machines by role.
        vocabulary: provides the setup operations.
        runners: runners of evaluators by role, for steps that wait.
        clock: measures and waits.
        resources: all resources by role, for steps on others than machines.

    Raises:
        UnsupportedError: an evaluator of the task needs a program that a machine lacks.
        SpecError: the arguments of a step are invalid.
        ActionError: a step failed on its machine.
        LinkError: communication with a machine failed.
        RequirementError: the task needs sudo, which a machine does not support.
        MachineError: a machine did not change the rights of its user.
    """
    require_programs(task, machines, vocabulary)
    if task.sudo:
        grant_sudo(machines)
    for number, step in enumerate(task.setup, 1):
        what = _name_of(step)
        try:
            if isinstance(step, WaitFor):
                _wait_for(step, machines, runners or {}, clock)
            else:
                _execute(step, {**(resources or {}), **machines}[step.on], vocabulary)
        except (ActionError, GuestCallError, SpecError) as exc:
            brief = f"step {number}, {what}: {exc.brief}"
            raise type(exc)(brief, exc.details, exc.resolution) from exc


def _name_of(step: SetupEntry) -> str:
    if isinstance(step, WaitFor):
        return f"wait for {step.wait_for.check} on {step.wait_for.on}"
    return f"{step.do} on {step.on}"


def _execute(step: SetupStep, resource: Resource, vocabulary: Vocabulary) -> None:
    tool = (vocabulary.setups or {})[resource.info.kind][step.do]
    args = located(tool, step.args, vocabulary.folder)
    tool.mark.function(resource, **tool.check(args))


def _wait_for(
    step: WaitFor,
    machines: Mapping[str, Machine],
    runners: Mapping[str, WaveRunner],
    clock: Clock,
) -> None:
    """Wait until an evaluator is met; a busy host stretches the time."""
    check = step.wait_for
    call = Call("wait-for", check.check, check.args)
    patience = Patience(step.seconds, clock)
    while True:
        (outcome,) = runners[check.on].evaluate([call], timeout_s=stretched(_CHECK_TIMEOUT_S))
        if outcome.met:
            break
        if patience.is_over:
            raise ActionError(
                f"it was not met within {step.seconds:g} s.",
                details=outcome.reason or f"Waited {patience.waited_s:.0f} s.",
            )
        clock.sleep(_EVERY_S)
    if check.on in machines:
        settle_machine(machines[check.on], DEFAULT_RULE, clock)


def grant_sudo(machines: Mapping[str, Machine]) -> None:
    """Allow the agent's user to become root on the desktops; the machines' reset undoes it.

    Args:
        machines: machines by role.

    Raises:
        RequirementError: a desktop does not support it.
        LinkError, MachineError: a guest does not answer, or refuses.
    """
    for machine in machines.values():
        if not registry().kind(machine.info.kind).has_sudo:
            continue
        if not isinstance(machine, SudoCapable):
            raise RequirementError(
                f"{machine.info.machine_id} ({machine.info.backend}) does not support sudo.",
                resolution="Run the task on a desktop VM (`MESOCOSM_DESKTOP=vm`).",
            )
        machine.grant_sudo(SUDO_PASSWORD)


def require_programs(task: Task, machines: Mapping[str, Machine], vocabulary: Vocabulary) -> None:
    """Verify that machines have the programs that a task's evaluators need.

    A machine that does not report its browser is accepted.

    Args:
        task: the task.
        machines: machines by role.
        vocabulary: provides the evaluators.

    Raises:
        UnsupportedError: a machine lacks a program.
    """
    for node in task.graph:
        for check in node.checks:
            machine = machines.get(check.on)
            if machine is None or not machine.info.browser:
                continue
            tool = vocabulary.evaluators[machine.info.kind].get(check.check)
            needs = "" if tool is None else tool.mark.needs
            if not machine.info.browser.startswith(needs):
                raise UnsupportedError(
                    f"The task {task.id} needs {needs}, which {machine.info.image} lacks.",
                    details=f"{check.check} reads the data of {needs}; the machine's browser is "
                    f"{machine.info.browser}.",
                    resolution="Set MESOCOSM_MIRROR_MOZILLA or MESOCOSM_MIRROR_DEBIAN and rebuild "
                    "the desktop, or choose debian-12.",
                )
