"""Read specifications of runs, and reject those of another version of Mesocosm with a hint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from controller.spec.run import SCHEMA_VERSION, RunSpec
from foundation.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path


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
        return RunSpec.model_validate(data)
    except (ValidationError, TypeError) as exc:
        raise _unreadable(path, exc) from exc


def require_known(data: object, path: Path) -> None:
    """Verify that a record has the schema of this version.

    Args:
        data: the record as JSON.
        path: its file, for the error message.

    Raises:
        StoreError: it has another schema, or none.
    """
    version: Any = data.get("schema_version") if isinstance(data, dict) else None
    if version == SCHEMA_VERSION:
        return
    raise StoreError(
        f"{path} was written by another version of Mesocosm.",
        details=f"Its schema version is {version}; this version reads {SCHEMA_VERSION}.",
        resolution="Read it with the version of Mesocosm that wrote it.",
    )


def _unreadable(path: Path, exc: Exception) -> StoreError:
    return StoreError(f"{path.parent} contains no readable {path.name}.", details=str(exc))
