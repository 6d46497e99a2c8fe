"""Read specifications of every schema version, and refuse those that are newer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.base.errors import StoreError
from controller.store.agent_spec import (
    CustomSpec,
    ModelSpec,
    NoopSpec,
    OracleSpec,
    RandomSpec,
    ScriptSpec,
)
from controller.store.spec import (
    SCHEMA_VERSION,
    CodeSpec,
    ObservationSpec,
    RunSpec,
    SuiteSpec,
    TaskSpec,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from controller.store.agent_spec import AgentSpec


class _RunV1(BaseModel):
    """What ``run.json`` held before it had a schema version."""

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
        StoreError: it is not there, damaged, or of a newer schema.
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
    """Return if a record is of a schema that can be read; one without a version is the first.

    Args:
        data: as JSON.
        path: of its file, for the error.

    Raises:
        StoreError: it is of a newer schema.
    """
    version: Any = data.get("schema_version", 1) if isinstance(data, dict) else 1
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer Mesocosm.",
            details=f"It is of schema {version}; this one reads up to {SCHEMA_VERSION}.",
            resolution="Read it with the Mesocosm that wrote it.",
        )


def _unreadable(path: Path, exc: Exception) -> StoreError:
    return StoreError(f"{path.parent} holds no readable {path.name}.", details=str(exc))


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
