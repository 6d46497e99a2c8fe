"""The folder of a machine on the host: its record, its lock and its backend's files.

The record describes the machine and outlives every process. To use the machine, a process must
hold its `MachineClaim`, a lock that the kernel frees when the process dies. A machine without a
claim is either idle or orphaned, and the next command may claim it.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from foundation.errors import MachineBusyError
from foundation.files import FileLock, write_atomic
from provisioning.machine_record import META, SCHEMA_VERSION, MachineRecord, parse_record
from provisioning.machine_state import MachineState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foundation.settings import Settings

R = TypeVar("R", bound=MachineRecord)

LOCK = "lock"


class _Versioned(BaseModel):
    """The part of a record that every version has."""

    schema_version: int


class MachineFolder:
    """The folder of one machine.

    Args:
        path: ``<machines_dir>/<machine id>`` or ``<devices_dir>/<machine id>``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def machine_id(self) -> str:
        """Return the machine's id."""
        return self.path.name

    def claim(self) -> MachineClaim | None:
        """Claim the machine; return None if it is claimed already or its folder is gone."""
        lock = FileLock(self.path / LOCK)
        if not lock.try_acquire(make_folder=False):
            return None
        return MachineClaim(self, lock)

    def require_claim(self) -> MachineClaim:
        """Claim the machine.

        Raises:
            MachineBusyError: another process uses it.
        """
        claim = self.claim()
        if claim is None:
            raise MachineBusyError(
                f"The machine {self.machine_id} is in use by another process.",
                resolution="Wait for it to end, or stop it.",
            )
        return claim

    def is_claimed(self) -> bool:
        """Return whether a process has claimed the machine."""
        return FileLock(self.path / LOCK).is_taken()

    def read(self) -> MachineRecord | None:
        """Read the record; None if it is missing, invalid, or of another schema version."""
        try:
            record = parse_record((self.path / META).read_bytes())
        except (OSError, ValueError):
            return None
        return record if record.schema_version == SCHEMA_VERSION else None

    def describe_record(self) -> str:
        """Return in a clause why `read` returns no record."""
        try:
            version = _Versioned.model_validate_json((self.path / META).read_bytes()).schema_version
        except (OSError, ValidationError):
            return "it has no readable record"
        if version == SCHEMA_VERSION:
            return "its record is damaged"
        return f"its record has schema version {version}; this release reads {SCHEMA_VERSION}"

    def write(self, record: R, *, is_durable: bool = True) -> R:
        """Write the record and return it; a fork's record is not synced, as a fork ends with the host.

        Args:
            record: the machine's record.
            is_durable: False skips the sync, for records that need not survive a host crash.
        """
        write_atomic(
            self.path / META,
            record.model_dump_json(indent=1),
            is_durable=is_durable and not record.is_fork,
        )
        return record

    def changed_s(self) -> float:
        """Return when the record was last written, unix time; 0 if there is no record."""
        try:
            return (self.path / META).stat().st_mtime
        except OSError:
            return 0.0

    def created_s(self) -> float:
        """Return when a file was last created in it, unix time; 0 if it does not exist."""
        try:
            return self.path.stat().st_mtime
        except OSError:
            return 0.0

    def mark(self, state: MachineState) -> None:
        """Write another state into the record, if there is a record.

        Raises:
            MachineError: that state cannot follow the current one.
        """
        record = self.read()
        if record is not None and record.state is not state:
            # A host crash ends every lease, so both states are equivalent after it.
            is_durable = MachineState.LEASED not in {record.state, state}
            self.write(record.moved_to(state), is_durable=is_durable)

    def remove(self) -> None:
        """Remove the folder; does nothing if it does not exist."""
        shutil.rmtree(self.path, ignore_errors=True)


class MachineClaim:
    """The exclusive right to use one machine, until `release` or the end of this process.

    Only `MachineFolder.claim` and `create_folder` create claims.
    """

    def __init__(self, folder: MachineFolder, lock: FileLock) -> None:
        self.folder = folder
        self._lock = lock

    def release(self) -> None:
        """Let other processes claim the machine; may be called more than once."""
        self._lock.release()


def create_folder(root: Path, machine_id: str) -> MachineClaim:
    """Create and claim the folder of a new machine.

    Args:
        root: `Settings.machines_dir` for VMs, `Settings.devices_dir` for everything else.
        machine_id: id of the machine.

    Raises:
        MachineBusyError: another process uses a machine with that id.
    """
    folder = MachineFolder(root / machine_id)
    folder.path.mkdir(parents=True, exist_ok=True)
    return folder.require_claim()


def find_folder(settings: Settings, machine_id: str) -> MachineFolder:
    """Return the folder of a machine, which need not exist."""
    device = MachineFolder(settings.devices_dir / machine_id)
    return device if device.path.is_dir() else MachineFolder(settings.machines_dir / machine_id)


def iter_folders(settings: Settings) -> Iterator[MachineFolder]:
    """Yield the folders of all machines, with or without a record, sorted by id."""
    paths = [
        path
        for root in (settings.machines_dir, settings.devices_dir)
        if root.is_dir()
        for path in root.iterdir()
        if path.is_dir() and not path.name.startswith(".")
    ]
    yield from map(MachineFolder, sorted(paths, key=lambda path: path.name))
