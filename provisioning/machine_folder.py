"""What a machine leaves on the host: one folder with its record, its lock and its backend's files.

The record says what the machine is and outlives every process. Whoever uses the machine has a
`MachineClaim`, which is a lock that the kernel frees when its holder dies: a machine that nobody
has claimed is either idle or an orphan, and the next command may claim it.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from appliance.base.errors import MachineBusyError
from appliance.base.files import FileLock, write_atomic
from provisioning.machine_state import MachineState, require_transition
from provisioning.protocols import Kind, MachineInfo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from appliance.base.settings import Settings

META = "meta.json"
LOCK = "lock"


class MachineRecord(BaseModel):
    """What a machine is.

    Attributes:
        machine_id: unique in this appliance; the folder's name.
        kind: desktop or phone.
        backend: ``libvirt``, ``container``, ``remote`` or ``reference-phone``.
        image: label of its image, such as ``desktop:debian-12``.
        image_digest: of that image.
        accelerator: ``kvm``, ``tcg`` or ``none``.
        state: as last written.
        created_s: unix time.
        details: what its backend must know to find it again, such as ports and container ids.
    """

    model_config = ConfigDict(frozen=True)

    machine_id: str
    kind: Kind
    backend: str
    image: str
    image_digest: str
    accelerator: str
    state: MachineState = MachineState.STARTING
    created_s: float = 0.0
    details: dict[str, str] = Field(default_factory=dict)

    @property
    def is_fork(self) -> bool:
        """Tell whether it is a copy of a template, which ends with its lease."""
        return "template" in self.details

    def moved_to(self, state: MachineState) -> MachineRecord:
        """Return the record of the machine in another state.

        Raises:
            MachineError: that state cannot follow the present one.
        """
        require_transition(self.machine_id, self.state, state)
        return self.model_copy(update={"state": state})

    @property
    def info(self) -> MachineInfo:
        """What results say about it."""
        return MachineInfo(
            machine_id=self.machine_id,
            kind=self.kind,
            backend=self.backend,
            image=self.image,
            image_digest=self.image_digest,
            accelerator=self.accelerator,
        )


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
        claim = self.claim()
        if claim is None:
            return self.path.is_dir()
        claim.release()
        return False

    def read(self) -> MachineRecord | None:
        """Read the record; None when there is none, or none that makes sense."""
        try:
            return MachineRecord.model_validate_json((self.path / META).read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, record: MachineRecord) -> MachineRecord:
        """Write the record and return it; that of a fork, which ends with the host, is not synced."""
        write_atomic(
            self.path / META, record.model_dump_json(indent=1), is_durable=not record.is_fork
        )
        return record

    def mark(self, state: MachineState) -> None:
        """Write another state into the record, if there is one.

        Raises:
            MachineError: that state cannot follow the present one.
        """
        record = self.read()
        if record is not None and record.state is not state:
            self.write(record.moved_to(state))

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
