"""Keeps the state of an in-memory machine as JSON, so that another process can start from it."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import TYPE_CHECKING, Any

from foundation.errors import SnapshotError
from provisioning.fake.machine import FakeFile
from provisioning.fake.record import FakeRecord
from provisioning.machine_record import META

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.fake.machine import FakeMachine, FakeState

_STATE = "state.json"
_LEFT_OUT = {"judge", "received"}
"""State that is not kept: loaded evaluators and past input, which do not affect grading."""


def keep_fake(machine: FakeMachine[Any], folder: Path) -> None:
    """Write a machine's state and its record.

    Args:
        machine: the machine, which must be running.
        folder: an empty folder.

    Raises:
        LinkClosedError: the machine is not running.
    """
    machine.faults.check("keep_state")
    machine.require_running()
    (folder / _STATE).write_text(json.dumps(_encode(machine.state)))
    info = dataclasses.asdict(machine.info)
    record = FakeRecord(**{**info, "backend": "fake"})
    (folder / META).write_text(record.model_dump_json(indent=1))


def kind_of_kept(folder: Path) -> str:
    """Return the kind of the machine kept in a folder.

    Raises:
        SnapshotError: the folder holds no kept machine.
    """
    try:
        return FakeRecord.model_validate_json((folder / META).read_bytes()).kind
    except (OSError, ValueError) as exc:
        raise SnapshotError(f"There is no kept machine in {folder}.", str(exc)) from exc


def load_fake(machine: FakeMachine[Any], folder: Path) -> None:
    """Restore a kept state in a machine.

    Raises:
        SnapshotError: there is no kept state, or it is damaged.
    """
    try:
        fields = json.loads((folder / _STATE).read_text())
        for name, value in fields.items():
            setattr(machine.state, name, _decode(name, value, getattr(machine.state, name)))
    except (OSError, ValueError, AttributeError, TypeError) as exc:
        raise SnapshotError(f"The state kept in {folder} cannot be read.", str(exc)) from exc


def _encode(state: FakeState) -> dict[str, Any]:
    encoded: dict[str, Any] = {}
    for field in dataclasses.fields(state):
        value = getattr(state, field.name)
        match field.name:
            case "files":
                encoded[field.name] = {path: _encode_file(file) for path, file in value.items()}
            case "settings":
                encoded[field.name] = [[*key, text] for key, text in value.items()]
            case name if name not in _LEFT_OUT:
                encoded[name] = sorted(value) if isinstance(value, set) else value
    return encoded


def _encode_file(file: FakeFile) -> list[Any]:
    return [base64.b64encode(file.data).decode(), file.mode, file.mtime_s, file.owner]


def _decode(name: str, value: Any, before: object) -> object:  # noqa: ANN401 - JSON
    match name:
        case "files":
            return {
                path: FakeFile(base64.b64decode(data), *rest)
                for path, (data, *rest) in value.items()
            }
        case "settings":
            return {(first, second): text for first, second, text in value}
    return type(before)(value) if isinstance(before, (set, tuple)) else value
