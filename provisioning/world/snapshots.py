"""Saves and rewinds the state of a world."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from foundation.errors import ResetMismatchError, SnapshotError, SnapshotMissingError
from foundation.files import write_atomic
from provisioning.protocols import ResetReport
from provisioning.world.state.archive import digest_archive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from foundation.clock import Clock
    from provisioning.world.control import Filled, WorldControl

_ARCHIVE, _ROWS = ".tar", ".json"
_MAX_NAMED = 20


class WorldSnapshots:
    """`provisioning.protocols.Snapshots` of a world: tars of its state, on the host.

    Args:
        name: name of the world, for errors.
        folder: folder of the tars.
        control: the running world.
        clock: clock used for timing.
    """

    def __init__(self, name: str, folder: Path, control: WorldControl, clock: Clock) -> None:
        self._name = name
        self._folder = folder
        self._control = control
        self._clock = clock

    def save(self, name: str) -> None:
        """Save its state.

        Raises:
            SnapshotError: the state could not be written.
            MachineError: the state cannot be read.
            LinkError: the world does not answer.
        """
        archive = self._control.read()
        rows = json.dumps(digest_archive(archive))
        try:
            self._folder.mkdir(exist_ok=True)
            write_atomic(self._path(name, _ROWS), rows)
            write_atomic(self._path(name), archive, mode=0o600)
        except OSError as exc:
            raise SnapshotError(f"{self._name} could not be saved.", str(exc)) from exc

    def rewind(self, name: str) -> ResetReport:
        """Restore a saved state, verify it before any server sees it, and restart the servers.

        Raises:
            SnapshotMissingError: the snapshot does not exist.
            ResetMismatchError: the world differs from it; it must not be used.
            MachineError: it could not be restored; the world must not be used.
            LinkError: the world does not answer.
        """
        start_s = self._clock.monotonic_s()
        filled = fill_verified(self._name, self._control, self._read(name), self._rows(name))
        phases_s = {"stop": filled.stop_s, "fill": filled.fill_s, "start": filled.start_s}
        return ResetReport("rewind", self._clock.monotonic_s() - start_s, (), phases_s)

    def differences(self, name: str) -> list[str]:
        """Return one line for each difference between its state and a snapshot.

        Raises:
            SnapshotMissingError: the snapshot does not exist.
            MachineError: the state cannot be read.
            LinkError: the world does not answer.
        """
        return state_differences(self._rows(name), self._control.digest())

    def list_snapshots(self) -> Sequence[str]:
        """Return the names of the snapshots, sorted."""
        return sorted(path.stem for path in self._folder.glob(f"*{_ARCHIVE}"))

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot.

        Raises:
            SnapshotMissingError: the snapshot does not exist.
        """
        try:
            self._path(name).unlink()
        except FileNotFoundError as exc:
            raise SnapshotMissingError(f"{self._name} has no snapshot {name!r}.") from exc
        self._path(name, _ROWS).unlink(missing_ok=True)

    def _read(self, name: str, suffix: str = _ARCHIVE) -> bytes:
        try:
            return self._path(name, suffix).read_bytes()
        except FileNotFoundError as exc:
            raise SnapshotMissingError(f"{self._name} has no snapshot {name!r}.") from exc

    def _rows(self, name: str) -> Mapping[str, str]:
        """Return the digest of a snapshot, which was taken when it was saved."""
        return dict(json.loads(self._read(name, _ROWS)))

    def _path(self, name: str, suffix: str = _ARCHIVE) -> Path:
        return self._folder / f"{name}{suffix}"


def fill_verified(
    name: str, control: WorldControl, archive: bytes, rows: Mapping[str, str]
) -> Filled:
    """Fill a world with a state, and compare what it then has with that state.

    Args:
        name: name of the world, for errors.
        control: the world.
        archive: the state.
        rows: its digest.

    Raises:
        ResetMismatchError: the world has another state; it must not be used.
        MachineError: it could not be filled.
        LinkError: it does not answer.
    """
    filled = control.fill(archive)
    if lines := state_differences(rows, filled.state):
        raise ResetMismatchError(
            f"{name} differs from the state that it was filled with.",
            details="\n".join(lines[:_MAX_NAMED]),
        )
    return filled


def state_differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return one line for each path that differs between two states."""
    return [
        f"{path}: {before.get(path, 'absent')} -> {after.get(path, 'absent')}"
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    ]
