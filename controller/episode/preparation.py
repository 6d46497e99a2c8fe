"""Execute a task's setup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.errors import ActionError, GuestCallError, SpecError, UnsupportedError
from evaluators.suite_files import SUITE_FILE, locate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.catalogue import Vocabulary
    from evaluators.model.task import Task
    from provisioning.protocols import Machine


def prepare(task: Task, machines: Mapping[str, Machine], vocabulary: Vocabulary) -> None:
    """Execute a task's setup steps in order.

    Args:
        task: the task.
        machines: machines by role.
        vocabulary: provides the setup operations.

    Raises:
        UnsupportedError: an evaluator of the task needs a program that a machine lacks.
        SpecError: the arguments of a step are invalid.
        ActionError: a step failed on its machine.
        LinkError: communication with a machine failed.
    """
    require_programs(task, machines, vocabulary)
    operations = vocabulary.setups or {}
    for number, step in enumerate(task.setup, 1):
        machine = machines[step.on]
        tool = operations[machine.info.kind.value][step.do]
        args = tool.check(step.args)
        try:
            for name in tool.marked(SUITE_FILE):
                args[name] = args[name] and str(locate(vocabulary.folder, args[name]))
            tool.mark.function(machine, **args)
        except (ActionError, GuestCallError, SpecError) as exc:
            brief = f"step {number}, {step.do} on {step.on}: {exc.brief}"
            raise type(exc)(brief, exc.details, exc.resolution) from exc


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
            tool = vocabulary.evaluators[machine.info.kind.value].get(check.check)
            needs = "" if tool is None else tool.mark.needs
            if not machine.info.browser.startswith(needs):
                raise UnsupportedError(
                    f"The task {task.id} needs {needs}, which {machine.info.image} lacks.",
                    details=f"{check.check} reads the data of {needs}; the machine's browser is "
                    f"{machine.info.browser}.",
                    resolution="Set MESOCOSM_MIRROR_MOZILLA or MESOCOSM_MIRROR_DEBIAN and rebuild "
                    "the desktop, or choose debian-12.",
                )
