"""Play actions from a file: a YAML list, or JSONL with one action per line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import ValidationError

from controller.actions.space import Action
from controller.agents.custom.turns import ActionLine
from controller.protocol import Turn
from foundation.errors import SpecError
from foundation.yaml_source import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from controller.observation.observer import Observation
    from controller.protocol import AgentContext


class ScriptAgent:
    """Plays given actions, one per turn, regardless of observations; completes after the last.

    Args:
        context: context of the trial; unused.
        actions: actions to play.
    """

    def __init__(self, context: AgentContext, actions: Sequence[Action]) -> None:
        del context
        self._actions = list(actions)

    def act(self, observation: Observation) -> Turn:
        """Return the next action."""
        del observation
        return Turn((self._actions.pop(0) if self._actions else Action("complete"),))


def read_script(path: Path) -> list[Action]:
    """Read a file of actions.

    Args:
        path: path of the file: JSONL if it ends with ``.jsonl``, otherwise YAML.

    Raises:
        SpecError: the file cannot be read, or a line is not an action.
    """
    rows = _jsonl_rows(path) if path.suffix == ".jsonl" else _yaml_rows(path)
    return [_action(path, line, row) for line, row in rows]


def _yaml_rows(path: Path) -> Iterator[tuple[int, object]]:
    source = read_yaml(path)
    if not isinstance(source.data, list):
        raise source.error((), "expected a list of actions.")
    for index, row in enumerate(source.data):
        yield source.line_of((index,)), row


def _jsonl_rows(path: Path) -> Iterator[tuple[int, object]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        raise SpecError(f"{path} cannot be read.", details=str(exc)) from exc
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as exc:
                raise SpecError(f"{path}:{number}: not JSON.", details=str(exc)) from exc


def _action(path: Path, line: int, row: object) -> Action:
    try:
        read = ActionLine.model_validate(row)
    except ValidationError as exc:
        message = exc.errors(include_url=False)[0]["msg"]
        raise SpecError(
            f"{path}:{line}: not an action: {message}",
            details=str(exc),
            resolution="Write {on: ROLE, do: ACTION, with: {ARGUMENTS}}, without `on` for the session.",
        ) from exc
    return read.action
