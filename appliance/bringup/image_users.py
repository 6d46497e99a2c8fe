"""Find the users of an image: machines, templates, processes that have it open, containers."""

from __future__ import annotations

import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from provisioning.desktop.qemu.template import templates_dir
from provisioning.machine_folder import iter_folders

if TYPE_CHECKING:
    from docker import DockerClient

    from foundation.settings import Settings
    from images.manifest import Manifest

_QCOW2 = struct.Struct(">4sIQI")
_MAGIC = b"QFI\xfb"
_MOST_BACKING_BYTES = 4096
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Users:
    """Users of images at one point in time.

    Attributes:
        by_digest: user that was created from the image with that digest.
        by_path: user of that file, with links resolved.
        by_docker_id: container, running or not, that was created from that docker image.
    """

    by_digest: dict[str, str]
    by_path: dict[Path, str]
    by_docker_id: dict[str, str]

    def of(self, folder: Path, manifest: Manifest) -> str:
        """Return one user of an image; empty if there is none."""
        if who := self.by_digest.get(manifest.image_digest):
            return who
        if manifest.docker_id and (who := self.by_docker_id.get(manifest.docker_id)):
            return who
        place = folder.resolve()
        return next((who for path, who in self.by_path.items() if path.is_relative_to(place)), "")


def find_users(settings: Settings, client: DockerClient | None = None) -> Users:
    """Find the current users of images.

    Args:
        settings: of the appliance.
        client: the docker engine; None skips containers.
    """
    by_digest = {}
    for folder in iter_folders(settings):
        if record := folder.read():
            by_digest[record.image_digest] = f"machine {folder.machine_id}"
    by_path = _open_files(settings.images_dir.resolve())
    for root, kind in ((templates_dir(settings), "template"), (settings.machines_dir, "machine")):
        for path in root.rglob("*") if root.is_dir() else ():
            if backing := backing_file(path):
                by_path[backing] = f"{kind} {path.relative_to(root).parts[0]}"
    containers = client.api.containers(all=True) if client else []
    by_docker_id = {
        str(container["ImageID"]): f"container {str(container['Names'][0]).lstrip('/')}"
        for container in containers
    }
    return Users(by_digest, by_path, by_docker_id)


def backing_file(path: Path) -> Path | None:
    """Return the backing file of a qcow2 image, with links resolved; None if it has none.

    Source: QEMU's docs/interop/qcow2.txt, header: magic, version, offset and size of the name.
    """
    with suppress(OSError, struct.error):
        if not path.is_file():
            return None
        with path.open("rb") as file:
            magic, _, offset, size = _QCOW2.unpack(file.read(_QCOW2.size))
            if magic != _MAGIC or not 0 < size <= _MOST_BACKING_BYTES:
                return None
            file.seek(offset)
            return (path.parent / file.read(size).decode()).resolve()
    return None


def _open_files(root: Path) -> dict[Path, str]:
    """Return the files below a folder that processes have open."""
    holders = {}
    for process in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            for number in (process / "fd").iterdir():
                with suppress(OSError):
                    path = number.readlink()
                    if path.is_relative_to(root):
                        holders[path] = f"process {process.name}"
    return holders
