"""Carry out a task's setup."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.catalogue import Vocabulary
    from evaluators.model.task import Task
    from provisioning.protocols import Machine


def prepare(task: Task, machines: Mapping[str, Machine], vocabulary: Vocabulary) -> None:
    """Carry out a task's setup steps in order.

    Args:
        task: whose setup.
        machines: by role.
        vocabulary: holds the setup operations.

    Raises:
        SpecError: the arguments of a step are wrong.
        ActionError: a step failed on its machine.
        LinkError: communication with a machine failed.
    """
    operations = vocabulary.setups or {}
    for step in task.setup:
        machine = machines[step.on]
        tool = operations[machine.info.kind.value][step.do]
        tool.mark.function(machine, **tool.check(step.args))
