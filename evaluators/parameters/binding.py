"""Bind a task to a seed: its texts with the values of its parameters in place of placeholders."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evaluators.model.placeholders import placeholders, substitute
from evaluators.model.spelling import require_known
from evaluators.model.task import Task
from evaluators.parameters.declaration import Choice, fields_of
from evaluators.parameters.drawing import draw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from evaluators.model.yaml_source import Source, Where
    from evaluators.parameters.declaration import Parameter

WITH_PLACEHOLDERS = (
    "instruction", "setup", "graph", "may_change", "oracle", "oracles", "must_fail", "subtasks",
)  # fmt: skip
"""Keys of a task whose texts may hold placeholders."""


@dataclass(frozen=True, slots=True)
class BoundTask:
    """A task as one trial has it.

    Attributes:
        task: without parameters and placeholders.
        values: of its parameters, by name.
    """

    task: Task
    values: Mapping[str, JsonValue] = field(default_factory=dict)


def bind_task(task: Task, seed: int) -> BoundTask:
    """Draw the values of a task's parameters and put them in place.

    Args:
        task: as its file has it; one without parameters stays as it is, ``${`` included.
        seed: of the trial.

    Raises:
        SpecError: a parameter has no value that it may have.
        TypeError: a value that is neither text nor number stands inside a longer text.
        ValueError: the task is invalid with these values.
    """
    if not task.parameters:
        return BoundTask(task)
    values = draw(task.parameters, seed)
    content = task.model_dump(mode="json", by_alias=True)
    for key in WITH_PLACEHOLDERS:
        if key in content:
            content[key] = substitute(content[key], values)
    bound = Task.model_validate({**content, "parameters": {}})
    return BoundTask(bound, {name: values[name] for name in task.parameters})


def check_placeholders(source: Source, parameters: Mapping[str, Parameter]) -> None:
    """Check what a task's file names as placeholders; without parameters nothing is a placeholder.

    Args:
        source: of the task, composed or plain.
        parameters: that it declares.

    Raises:
        SpecError: a placeholder has no value, or a parameter is not used: file and line.
    """
    if not parameters:
        return
    known = [*parameters]
    for name, parameter in parameters.items():
        known += [f"{name}.{each}" for each in fields_of(parameter)]
    used: set[str] = set()
    for key in WITH_PLACEHOLDERS:
        for name, where in placeholders(source.data.get(key), (key,)):
            require_known(source, where, "placeholder", name, known)
            used.add(name.partition(".")[0])
    for name, parameter in parameters.items():
        _check_parameter(source, name, parameter, parameters, is_used=name in used)


def _check_parameter(
    source: Source,
    name: str,
    parameter: Parameter,
    parameters: Mapping[str, Parameter],
    *,
    is_used: bool,
) -> None:
    where: Where = ("parameters", name)
    if not is_used:
        raise source.error(where, f"no placeholder uses the parameter {name!r}.")
    earlier = list(parameters)[: list(parameters).index(name)]
    for other in parameter.differs_from:
        what = "parameter declared before"
        require_known(source, (*where, "differs_from"), what, other, earlier)
    if isinstance(parameter, Choice) and not parameter.options:
        raise source.error((*where, "file"), "the file has no lines to choose from.")
