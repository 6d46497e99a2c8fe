"""Bind a task to a seed: replace the placeholders in its texts by the values of its parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from evaluators.model.parameter import (
    Choice,
    Parameter,
    ParameterName,
    PersonaQuestion,
    fields_of,
)
from evaluators.model.placeholders import escaped, placeholders, substitute_entry
from evaluators.model.spelling import require_known, unknown_placeholder
from evaluators.model.task import Task
from evaluators.parameters.drawing import draw
from foundation.errors import SpecError
from foundation.yaml_source import join_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pydantic import JsonValue

    from foundation.yaml_source import Source, Where

WITH_PLACEHOLDERS = (
    "instruction", "setup", "graph", "may_change", "oracle", "oracles", "must_fail", "subtasks",
)  # fmt: skip
"""Keys of a task whose texts may contain placeholders."""

_PARAMETERS: TypeAdapter[dict[str, Parameter]] = TypeAdapter(dict[ParameterName, Parameter])


@dataclass(frozen=True, slots=True)
class BoundTask:
    """A task bound to the seed of a trial.

    Attributes:
        task: the task without parameters and placeholders.
        values: values of its parameters, by name.
    """

    task: Task
    values: Mapping[str, JsonValue] = field(default_factory=dict)


def bind_task(task: Task, seed: int) -> BoundTask:
    """Draw the values of a task's parameters and insert them.

    Args:
        task: the task as in its file; a task without parameters does not change, even if it
            contains ``${``.
        seed: seed of the trial.

    Raises:
        SpecError: a parameter has no allowed value.
        TypeError: a value that is neither text nor a number is used inside a longer text.
        ValueError: the task is invalid with these values.
    """
    if not task.parameters:
        return BoundTask(task)
    values = draw(task.parameters, seed)
    content = task.model_dump(mode="json", by_alias=True)
    for key in WITH_PLACEHOLDERS:
        if key in content:
            content[key] = substitute_entry(content[key], values)
    bound = Task.model_validate({**content, "parameters": {}})
    return BoundTask(bound, {name: values[name] for name in task.parameters})


def check_placeholders(source: Source, parameters: Mapping[str, Parameter]) -> None:
    """Check the placeholders in a task's file; without parameters nothing is a placeholder.

    Args:
        source: file of the task, composed or plain.
        parameters: its parameters.

    Raises:
        SpecError: a placeholder has no value, or a parameter is not used: file and line.
    """
    if not parameters:
        return
    errors, used = _placeholders_of(source, parameters)
    if errors:  # a misspelled placeholder may be the one that uses a parameter
        used |= set(parameters)
    for name, parameter in parameters.items():
        if name not in used:
            where = ("parameters", name)
            message = f"no placeholder uses the parameter {name!r}."
            errors.append(source.error(where, message, resolution=_escape_of(source, name)))
        errors += _check_parameter(source, name, parameter, parameters)
    if errors:
        raise join_errors(errors)


def placeholder_mistakes(source: Source) -> list[SpecError]:
    """Return errors for placeholders without a value in a task's file that has errors elsewhere."""
    try:
        parameters = _PARAMETERS.validate_python(source.data.get("parameters") or {})
    except ValidationError:
        return []
    return _placeholders_of(source, parameters)[0] if parameters else []


def _placeholders_of(
    source: Source, parameters: Mapping[str, Parameter]
) -> tuple[list[SpecError], set[str]]:
    """Return errors for placeholders without a value, and the names that the others use."""
    known = [*parameters]
    unread = set()
    for name, parameter in parameters.items():
        known += [f"{name}.{field}" for field in fields_of(parameter)]
        if isinstance(parameter, PersonaQuestion) and not parameter.answers:
            unread.add(name)  # an error elsewhere in the file
    used: set[str] = set()
    errors: list[SpecError] = []
    for key in WITH_PLACEHOLDERS:
        for name, where in placeholders(source.data.get(key), (key,)):
            root = name.partition(".")[0]
            used.add(root)
            if root not in unread:
                errors += unknown_placeholder(source, where, name, known)
    return errors, used


def _escape_of(source: Source, name: str) -> str:
    """Return advice if all placeholders of a parameter are escaped; else an empty text."""
    texts = [source.data.get(key) for key in WITH_PLACEHOLDERS]
    if name not in {placeholder.partition(".")[0] for placeholder in escaped(texts)}:
        return ""
    return f"$${{{name}}} is the text ${{{name}}}; $$${{{name}}} is a dollar sign and the value."


def _check_parameter(
    source: Source, name: str, parameter: Parameter, parameters: Mapping[str, Parameter]
) -> list[SpecError]:
    """Return the errors in the declaration of a parameter."""
    where: Where = ("parameters", name)
    earlier = list(parameters)[: list(parameters).index(name)]
    errors = [
        error
        for other in parameter.differs_from
        for error in _unknown(
            source, (*where, "differs_from"), "parameter declared before", other, earlier
        )
    ]
    if isinstance(parameter, Choice) and not parameter.options:
        errors.append(source.error((*where, "file"), "the file has no lines to choose from."))
    return errors


def _unknown(
    source: Source, where: Where, what: str, name: str, names: Collection[str]
) -> list[SpecError]:
    try:
        require_known(source, where, what, name, names)
    except SpecError as exc:
        return [exc]
    return []
