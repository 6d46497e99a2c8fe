"""What a machine leaves on the host: one folder with its record, its lock and its backend's files.

The record says what the machine is and outlives every process. The lock says whether somebody
uses it: the kernel frees it when its holder dies, so a machine whose lock is free is either idle
or an orphan, and the next command may take it.
"""

from __future__ import annotations

import shutil
from enum import StrEnum
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from appliance.base.files import FileLock, write_atomic
from provisioning.protocols import Kind, MachineInfo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from appliance.base.settings import Settings

META = "meta.json"
LOCK = "lock"


class MachineState(StrEnum):
    """Where a machine is in its life, as last written; metrics count machines by it.

    A machine that is ``kept`` belongs to whoever forked it by hand: it is neither lent nor swept.
    """

    STARTING = "starting"
    WAITING = "waiting"
    READY = "ready"
    LEASED = "leased"
    KEPT = "kept"
    STOPPED = "stopped"
    BROKEN = "broken"


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
        self.lock = FileLock(path / LOCK)

    @property
    def machine_id(self) -> str:
        """The machine's id."""
        return self.path.name

    def read(self) -> MachineRecord | None:
        """Read the record; None when there is none, or none that makes sense."""
        try:
            return MachineRecord.model_validate_json((self.path / META).read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, record: MachineRecord) -> MachineRecord:
        """Write the record; gives it back."""
        write_atomic(self.path / META, record.model_dump_json(indent=1))
        return record

    def mark(self, state: MachineState) -> None:
        """Write another state into the record, if there is one."""
        record = self.read()
        if record is not None and record.state is not state:
            self.write(record.model_copy(update={"state": state}))

    def remove(self) -> None:
        """Remove the folder; harmless when there is none."""
        shutil.rmtree(self.path, ignore_errors=True)


def iter_folders(settings: Settings) -> Iterator[MachineFolder]:
    """Give the folders of all machines, records or not, sorted by id."""
    if settings.machines_dir.is_dir():
        for path in sorted(settings.machines_dir.iterdir()):
            if path.is_dir() and not path.name.startswith("."):
                yield MachineFolder(path)
