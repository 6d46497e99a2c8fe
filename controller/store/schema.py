"""Read specifications of runs, and reject those of another version of Mesocosm with a hint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from controller.episode.result import TRIAL_RESULT
from controller.models.usage import Usage
from controller.specification.agent import MEMBER
from controller.specification.run import SCHEMA_VERSION, RunSpec
from foundation.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from controller.episode.result import TrialResult

_ONE_AGENT = 2
"""Version of runs that have one agent instead of members."""

_RENAMED = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
"""Names in a usage, before and after version 2."""


def read_spec(path: Path) -> RunSpec:
    """Read a ``run.json``.

    Raises:
        StoreError: the file is missing or damaged, or has another schema.
    """
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise _unreadable(path, exc) from exc
    require_known(data, path)
    try:
        return RunSpec.model_validate(_with_members(data))
    except (ValidationError, TypeError) as exc:
        raise _unreadable(path, exc) from exc


def _with_members(data: dict[str, Any]) -> dict[str, Any]:
    """Return a specification as of today; version 2 had one agent, without a name."""
    if data["schema_version"] != _ONE_AGENT:
        return data
    kept = {name: value for name, value in data.items() if name != "agent"}
    members = [{"name": MEMBER, "agent": data.get("agent")}]
    return {**kept, "agents": members, "schema_version": SCHEMA_VERSION}


def read_result(data: dict[str, Any]) -> TrialResult:
    """Read the result in the last line of a log of any known version.

    Raises:
        ValidationError: it is not a result.
    """
    if "members" in data:
        return TRIAL_RESULT.validate_python(data)
    names = ("steps", "agent_seconds")
    share: dict[str, Any] = {name: data[name] for name in names if name in data}
    share["usage"] = {_RENAMED.get(name, name): value for name, value in data["usage"].items()}
    kept = {name: value for name, value in data.items() if name not in {"agent_seconds", "usage"}}
    return TRIAL_RESULT.validate_python({**kept, "members": {MEMBER: share}})


def usage_in(event: Mapping[str, Any]) -> Usage | None:
    """Return the usage of an event of any known version; None if it has none."""
    usage = event.get("usage")
    if usage and "prompt" in usage:
        return Usage(usage["prompt"], usage["completion"])
    return Usage(**usage) if usage else None


def member_of(event: Mapping[str, Any]) -> str:
    """Return the name of the member whose event it is."""
    return str(event.get("member", MEMBER))


def require_known(data: object, path: Path) -> None:
    """Verify that a record's schema can be read.

    Args:
        data: the record as JSON.
        path: its file, for the error message.

    Raises:
        StoreError: it has another schema, or none.
    """
    version: Any = data.get("schema_version") if isinstance(data, dict) else None
    if version in {_ONE_AGENT, SCHEMA_VERSION}:
        return
    raise StoreError(
        f"{path} was written by another version of Mesocosm.",
        details=f"Its schema version is {version}; this version reads {SCHEMA_VERSION}.",
        resolution="Read it with the version of Mesocosm that wrote it.",
    )


def _unreadable(path: Path, exc: Exception) -> StoreError:
    return StoreError(f"{path.parent} contains no readable {path.name}.", details=str(exc))
