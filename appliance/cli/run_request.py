"""Make the request of a run from what stands on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from controller.service.requests import RunRequest


def make_request(
    *, suite: str, agent: str, script: Path | None, tasks: list[str] | None, **others: object
) -> RunRequest:
    """Return a request; folders and files are named from the root, as the service has a folder of its own.

    Args:
        suite: name of a suite, or its folder.
        agent: name of an agent, or file and class of the user's own.
        script: file of actions.
        tasks: ids.
        others: further fields of `controller.service.requests.RunRequest`.

    Raises:
        UsageError: a value is wrong.
    """
    from controller.service.requests import parse_request
    from evaluators.model.suite import list_suites

    is_folder = suite not in list_suites() and Path(suite).exists()
    values = {
        "suite": str(Path(suite).resolve()) if is_folder else suite,
        "agent": _absolute_class(agent),
        "script": None if script is None else str(script.resolve()),
        "tasks": tuple(tasks or ()),
        **others,
    }
    return parse_request(values)


def _absolute_class(agent: str) -> str:
    """Return ``file.py:Class`` with the file's path from the root; other agents as they are."""
    file, colon, name = agent.rpartition(":")
    return f"{Path(file).resolve()}{colon}{name}" if file.endswith(".py") else agent
