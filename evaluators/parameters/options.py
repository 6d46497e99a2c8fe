"""Read the options of choices from a suite's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from evaluators.model.parameter import MAX_OPTIONS, Choice, PersonaQuestion
from evaluators.model.suite_files import locate
from evaluators.parameters.asking import ask
from foundation.errors import SpecError, UsageError
from provisioning.resource import WORLD
from provisioning.world.persona.generator import DEFAULT_SEED
from provisioning.world.persona.persona import persona

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evaluators.model.parameter import Parameter
    from evaluators.model.subtask import ComposedTask
    from evaluators.model.task import Task
    from foundation.yaml_source import Source
    from provisioning.resource import ResourceSpec

M = TypeVar("M", "Task", "ComposedTask")
_MAX_BYTES = 1 << 20


def read_options(source: Source, task: M, folder: Path) -> M:
    """Return a task whose choices have the lines of their files as options, and questions their answers.

    The options and answers then belong to the task and its digest.

    Args:
        source: the task's file, for errors.
        task: its content.
        folder: the suite's folder.

    Raises:
        SpecError: a file is missing, outside the folder, too large, or not UTF-8 text; a question
            cannot be answered.
    """
    if not task.parameters:
        return task
    filled = {
        name: _ask(source, name, parameter, task.roles)
        if isinstance(parameter, PersonaQuestion)
        else _fill(source, name, parameter, folder)
        for name, parameter in task.parameters.items()
    }
    return task.model_copy(update={"parameters": filled})


def _ask(
    source: Source, name: str, parameter: PersonaQuestion, roles: Mapping[str, ResourceSpec]
) -> Parameter:
    """Return a question with its answers, about the persona of a role's world."""
    where = ("parameters", name)
    role = roles.get(parameter.on)
    if role is None or role.kind != WORLD:
        message = f"the role {parameter.on!r} of the question is not a world of this task."
        raise source.error((*where, "on"), message)
    try:
        seed = role.parameters.get("seed", DEFAULT_SEED)
        answers = ask(persona(int(str(seed))), parameter.ask)
    except (UsageError, ValueError) as exc:
        details = exc.brief if isinstance(exc, UsageError) else str(exc)
        resolution = exc.resolution if isinstance(exc, UsageError) else ""
        raise source.error((*where, "ask"), details, resolution=resolution) from exc
    return parameter.model_copy(update={"answers": answers})


def _fill(source: Source, name: str, parameter: Parameter, folder: Path) -> Parameter:
    if not isinstance(parameter, Choice) or not parameter.file:
        return parameter
    where = ("parameters", name, "file")
    try:
        path = locate(folder, parameter.file)
    except SpecError as exc:
        raise source.error(where, exc.brief) from exc
    if path.stat().st_size > _MAX_BYTES:
        raise source.error(where, f"{parameter.file} is larger than {_MAX_BYTES} bytes.")
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except UnicodeDecodeError as exc:
        raise source.error(where, f"{parameter.file} is not UTF-8 text.", str(exc)) from exc
    options = tuple(line for line in lines if line and not line.startswith("#"))
    if len(options) > MAX_OPTIONS:
        raise source.error(where, f"{parameter.file} has more than {MAX_OPTIONS} lines.")
    return parameter.model_copy(update={"options": (*parameter.options, *options)})
