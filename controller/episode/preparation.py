"""Carry out a task's setup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.actions.vocabulary import setup_tools

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.model.task import Task
    from provisioning.protocols import Machine


def prepare(task: Task, machines: Mapping[str, Machine]) -> None:
    """Do a task's setup steps in order.

    Raises:
        SpecError: the arguments of a step are wrong.
        ActionError: a step failed on its machine.
        LinkError: the talk with a machine failed.
    """
    for step in task.setup:
        machine = machines[step.on]
        tool = setup_tools()[machine.info.kind.value][step.do]
        tool.mark.function(machine, **tool.check(step.args))
