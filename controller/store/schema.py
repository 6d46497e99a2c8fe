"""Read specifications of all known schema versions, and reject newer ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from controller.spec.agent import (
    CustomSpec,
    ModelSpec,
    NoopSpec,
    OracleSpec,
    RandomSpec,
    ScriptSpec,
)
from controller.spec.run import (
    SCHEMA_VERSION,
    CodeSpec,
    ObservationSpec,
    RunSpec,
    SuiteSpec,
    TaskSpec,
)
from foundation.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from controller.spec.agent import AgentSpec


class _RunV1(BaseModel):
    """The content of ``run.json`` before it had a schema version."""

    model_config = ConfigDict(frozen=True)

    run: str
    suite: str
    suite_version: str
    suite_digest: str
    agent: str
    tasks: tuple[str, ...]
    repeats: int
    seed: int
    started_s: float
    version: str
    options: dict[str, str] = {}


def read_spec(path: Path) -> RunSpec:
    """Read a ``run.json`` of any known version.

    Raises:
        StoreError: the file is missing or damaged, or has a newer schema.
    """
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise _unreadable(path, exc) from exc
    require_known(data, path)
    try:
        if "schema_version" in data:
            return RunSpec.model_validate(data)
        return _from_v1(_RunV1.model_validate(data))
    except (ValidationError, TypeError) as exc:
        raise _unreadable(path, exc) from exc


def require_known(data: object, path: Path) -> None:
    """Verify that a record's schema can be read; a record without a version has version 1.

    Args:
        data: the record as JSON.
        path: its file, for the error message.

    Raises:
        StoreError: the record has a newer schema.
    """
    version: Any = data.get("schema_version", 1) if isinstance(data, dict) else 1
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer version of Mesocosm.",
            details=f"Its schema version is {version}; this version reads up to {SCHEMA_VERSION}.",
            resolution="Read it with the version of Mesocosm that wrote it.",
        )


def _unreadable(path: Path, exc: Exception) -> StoreError:
    return StoreError(f"{path.parent} contains no readable {path.name}.", details=str(exc))


def _from_v1(old: _RunV1) -> RunSpec:
    return RunSpec(
        schema_version=1,
        run=old.run,
        started_s=old.started_s,
        suite=SuiteSpec(name=old.suite, version=old.suite_version, digest=old.suite_digest),
        agent=_agent_from_v1(old.agent, old.options),
        tasks=tuple(TaskSpec(id=name) for name in old.tasks),
        repeats=old.repeats,
        seed=old.seed,
        observation=ObservationSpec(trees="trees" in old.options),
        code=CodeSpec(version=old.version),
        recording_hz=float(old.options.get("video_hz", "0")),
    )


def _agent_from_v1(name: str, options: Mapping[str, str]) -> AgentSpec:
    match name:
        case "oracle":
            return OracleSpec()
        case "noop":
            return NoopSpec()
        case "random":
            return RandomSpec()
        case "script":
            return ScriptSpec(path=options.get("script", ""))
        case "model":
            return ModelSpec(model=options.get("model", ""), endpoint=options.get("base_url", ""))
        case _:
            return CustomSpec(name=name)
