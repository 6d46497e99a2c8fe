"""What a machine leaves on the host: one folder with its record, its lock and its backend's files.

The record says what the machine is and outlives every process. Whoever uses the machine has a
`MachineClaim`, which is a lock that the kernel frees when its holder dies: a machine that nobody
has claimed is either idle or an orphan, and the next command may claim it.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from appliance.base.errors import MachineBusyError
from appliance.base.files import FileLock, write_atomic
from provisioning.desktop.registry import DesktopRecord
from provisioning.fake.record import FakeRecord
from provisioning.machine_record import META, SCHEMA_VERSION, BaseRecord
from provisioning.machine_state import MachineState
from provisioning.phone.reference.record import PhoneRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from appliance.base.settings import Settings

R = TypeVar("R", bound=BaseRecord)

LOCK = "lock"


MachineRecord = Annotated[DesktopRecord | PhoneRecord | FakeRecord, Field(discriminator="backend")]
"""The record of a machine of any backend."""

_RECORD: TypeAdapter[MachineRecord] = TypeAdapter(MachineRecord)


class MachineFolder:
    """The folder of one machine.

    Args:
        path: ``<machines_dir>/<machine id>``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def machine_id(self) -> str:
        """The machine's id."""
        return self.path.name

    def claim(self) -> MachineClaim | None:
        """Claim the machine; returns None when somebody else has, or when its folder is gone."""
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
        """Return whether somebody uses the machine."""
        return FileLock(self.path / LOCK).is_taken()

    def read(self) -> MachineRecord | None:
        """Read the record; None when there is none, or none of this version that makes sense."""
        try:
            record = _RECORD.validate_json((self.path / META).read_bytes())
        except (OSError, ValidationError):
            return None
        return record if record.schema_version == SCHEMA_VERSION else None

    def write(self, record: R, *, is_durable: bool = True) -> R:
        """Write the record and return it; that of a fork, which ends with the host, is not synced.

        Args:
            record: of the machine.
            is_durable: False saves the sync of what need not outlive a crash of the host.
        """
        write_atomic(
            self.path / META,
            record.model_dump_json(indent=1),
            is_durable=is_durable and not record.is_fork,
        )
        return record

    def changed_s(self) -> float:
        """Return when the record was last written, unix time; 0 where there is none."""
        try:
            return (self.path / META).stat().st_mtime
        except OSError:
            return 0.0

    def mark(self, state: MachineState) -> None:
        """Write another state into the record, if there is one.

        Raises:
            MachineError: that state cannot follow the present one.
        """
        record = self.read()
        if record is not None and record.state is not state:
            # A crash of the host ends every lease: both states mean the same after it.
            is_durable = MachineState.LEASED not in {record.state, state}
            self.write(record.moved_to(state), is_durable=is_durable)

    def remove(self) -> None:
        """Remove the folder; harmless when there is none."""
        shutil.rmtree(self.path, ignore_errors=True)


class MachineClaim:
    """The exclusive right to one machine, until `release` or the end of this process.

    Made by `MachineFolder.claim` and `create_folder` only.
    """

    def __init__(self, folder: MachineFolder, lock: FileLock) -> None:
        self.folder = folder
        self._lock = lock

    def release(self) -> None:
        """Let others use the machine; harmless twice."""
        self._lock.release()


def create_folder(settings: Settings, machine_id: str) -> MachineClaim:
    """Make the folder of a new machine.

    Raises:
        MachineBusyError: somebody else uses a machine of that id.
    """
    folder = MachineFolder(settings.machines_dir / machine_id)
    folder.path.mkdir(parents=True, exist_ok=True)
    return folder.require_claim()


def iter_folders(settings: Settings) -> Iterator[MachineFolder]:
    """Return the folders of all machines, records or not, sorted by id."""
    if settings.machines_dir.is_dir():
        for path in sorted(settings.machines_dir.iterdir()):
            if path.is_dir() and not path.name.startswith("."):
                yield MachineFolder(path)
