"""Keeps the state of a reference phone in a folder, and restores it in a new phone."""

from __future__ import annotations

import io
import shutil
import tarfile
from typing import TYPE_CHECKING

from foundation.errors import SnapshotError
from foundation.files import write_atomic
from provisioning.end_state import END
from provisioning.machine_folder import MachineFolder

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.machine_record import MachineRecord
    from provisioning.phone.reference.engine import PhoneContainers
    from provisioning.phone.reference.snapshots import PhoneSnapshots
    from provisioning.protocols import ResetReport

_SNAPSHOTS = "/data/system/snapshots"
"""Folder of a phone's snapshots; see `images.phone.device.store.snapshots`."""

_ARCHIVE, _DIGEST = "phone.tar", "digest.json"


def keep_phone(
    phone: MachineFolder,
    record: MachineRecord,
    snapshots: PhoneSnapshots,
    containers: PhoneContainers,
    folder: Path,
) -> None:
    """Keep the state of a running phone.

    Args:
        phone: the phone's folder.
        record: the phone's record.
        snapshots: the phone's snapshots.
        containers: containers of the appliance's phones.
        folder: an empty folder.

    Raises:
        SnapshotError: the state could not be saved, or its snapshot could not be read.
        MachineError: the Docker engine refused.
    """
    snapshots.save(END)
    try:
        archive = containers.read_folder(phone.machine_id, _SNAPSHOTS)
        write_atomic(folder / _ARCHIVE, select_snapshot(archive, END))
        shutil.copyfile(_digest_path(phone), folder / _DIGEST)
    finally:
        snapshots.delete_snapshot(END)
    MachineFolder(folder).write(record)


def load_kept(
    phone: MachineFolder, snapshots: PhoneSnapshots, containers: PhoneContainers, folder: Path
) -> ResetReport:
    """Restore a kept state in a running phone, and verify it.

    Args:
        phone: folder of a phone of the same image.
        snapshots: the phone's snapshots.
        containers: containers of the appliance's phones.
        folder: where the state was kept.

    Raises:
        SnapshotError: the state is damaged, or the phone did not load it.
        ResetMismatchError: the phone differs from the kept state.
        MachineError: the Docker engine refused.
    """
    try:
        archive = (folder / _ARCHIVE).read_bytes()
        _digest_path(phone).parent.mkdir(exist_ok=True)
        shutil.copyfile(folder / _DIGEST, _digest_path(phone))
    except OSError as exc:
        raise SnapshotError(f"The state kept in {folder} cannot be read.", str(exc)) from exc
    containers.write_folder(phone.machine_id, _SNAPSHOTS, archive)
    return snapshots.rewind(END)


def select_snapshot(archive: bytes, name: str) -> bytes:
    """Extract one snapshot from an archive of a phone's snapshots.

    Args:
        archive: tar of the folder of all snapshots, with its name as prefix of each entry.
        name: name of the snapshot, which is a symbolic link to its folder.

    Raises:
        SnapshotError: the archive does not contain the snapshot.
    """
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as source,
        tarfile.open(fileobj=out, mode="w") as to,
    ):
        members = {member.name.partition("/")[2]: member for member in source.getmembers()}
        if name not in members or not members[name].issym():
            raise SnapshotError(f"The phone's archive has no snapshot {name!r}.")
        version = members[name].linkname
        for path, member in members.items():
            if path == name or path.split("/")[0] == version:
                member.name = path
                to.addfile(member, source.extractfile(member) if member.isreg() else None)
    return out.getvalue()


def _digest_path(phone: MachineFolder) -> Path:
    return phone.path / "snapshots" / f"{END}.json"
