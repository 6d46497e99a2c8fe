"""What is in a desktop image's own folders: files of /etc, /home, /usr/local and /opt, and settings.

Read from the disk, without a machine. Of an image that boots before its machines are saved, the disk of
its template is read if there is one: its own disk lacks what the boot wrote.
"""

from __future__ import annotations

import logging
import os
import shutil
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.bringup.fixed_images import is_hand_made
from foundation.errors import SnapshotError
from foundation.files import digest_bytes, digest_file, write_atomic
from foundation.process import run
from images.builder import find
from images.desktop.recipe import DISK
from images.hypervisor.tools import HYPERVISOR, hypervisor_tools
from provisioning.desktop.qemu.template import RECORD, open_template, templates_dir
from provisioning.probe.system.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foundation.settings import Settings
    from images.recipe import Image, Report

_log = logging.getLogger(__name__)
TREES = ("/etc", "/home", "/usr/local", "/opt")
"""The folders that are compared: the others hold packages, caches and logs."""
_INFO = "var/lib/dpkg/info"
_DCONF = "home/user/.config/dconf/user"
_OWN = "/usr/local/lib/mesocosm/"
_OWN_OF_FORKS = (
    "/etc/machine-id",
    "/etc/ssh/ssh_host_",
    f"{_OWN}machine-id",
    f"{_OWN}ssh_host_",
)
"""What each fork has of its own."""
_WRITTEN_BY_THEMSELVES = (
    ".cache/",
    ".local/state/",
    ".dbus/",
    ".local/share/gvfs-metadata/",
    ".config/dconf/user",  # its settings are compared
    ".config/pulse/",
    ".local/share/recently-used.xbel",
)
_HOME = "/home/user/"
_FORMAT = 2
_TIMEOUT_S = 900.0


class FileRow(BaseModel):
    """A file or symbolic link.

    Attributes:
        size_bytes: size of its content.
        content: SHA-256 of its content, or ``-> `` and the target of a link.
        mode: permission bits.
        is_user: whether it belongs to the agent's user.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    size_bytes: int
    content: str
    mode: int
    is_user: bool = False

    @property
    def is_link(self) -> bool:
        """Return whether it is a symbolic link."""
        return self.content.startswith("-> ")


class Inventory(BaseModel):
    """The content of an image.

    Attributes:
        format: version of this file's schema.
        files: files by path.
        packages: package that a file belongs to, by path.
        settings: digest of the value of each setting of the user, by path.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = _FORMAT
    files: dict[str, FileRow]
    packages: dict[str, str] = {}
    settings: dict[str, str] = {}


def read_inventory(image: Image, settings: Settings, report: Report) -> Inventory:
    """Return the content of an image; read once and kept in the state folder.

    Raises:
        ToolError: the disk cannot be read.
        RequirementError: the Docker engine does not answer.
    """
    _, key = _source(image, settings)
    path = settings.images_dir / "inventories" / f"{key}.json"
    try:
        kept = Inventory.model_validate_json(path.read_bytes())
        if kept.format == _FORMAT:
            return kept
    except (OSError, ValidationError):
        pass
    with unpacked(image, settings, report, TREES, f"/{_INFO}") as root:
        report("files", None, f"comparing the files of {image.label}")
        inventory = _read(root)
    write_atomic(path, inventory.model_dump_json())
    return inventory


@contextmanager
def unpacked(
    image: Image, settings: Settings, report: Report, folders: tuple[str, ...], *more: str
) -> Iterator[Path]:
    """Unpack folders of an image's disk for a block.

    Args:
        image: the image.
        settings: locate images and templates.
        report: receives progress.
        folders: absolute paths; those that do not exist are left out.
        more: more of them.
    """
    disk, _ = _source(image, settings)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=settings.images_dir) as work:
        raw, root = Path(work) / "disk.raw", Path(work) / "root"
        report("disk", None, f"reading the disk of {image.label}")
        convert = ("qemu-img", "convert", "-W", "-O", "raw", str(disk), str(raw))
        reads = {image.path, disk.parent}
        with hypervisor_tools(find(HYPERVISOR, settings), Path(work), reads=reads) as tools:
            tools.run(*convert, timeout_s=_TIMEOUT_S)
        for folder in (*folders, *more):
            target = root / folder.strip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            run(
                ["debugfs", "-R", f'rdump "{folder}" "{target.parent}"', str(raw)],
                timeout_s=_TIMEOUT_S,
            ).require()
        raw.unlink()
        yield root
        shutil.rmtree(root, ignore_errors=True)


def _source(image: Image, settings: Settings) -> tuple[Path, str]:
    """Return the disk with the state that trials begin with, and a name of that state."""
    if not is_hand_made(image):
        for path in sorted(templates_dir(settings).glob(f"*/{RECORD}")):
            try:
                template = open_template(path.parent)
            except SnapshotError:
                continue
            if template.record.backing == str(image.file(DISK)):
                return template.disk, f"{image.digest}-{path.parent.name}"
    return image.file(DISK), image.digest


def _read(root: Path) -> Inventory:
    owners = _owners(root / _INFO)
    files: dict[str, FileRow] = {}
    for tree in TREES:
        for folder, _, names in os.walk(root / tree.strip("/")):
            for name in names:
                path = Path(folder, name)
                guest = f"/{path.relative_to(root)}"
                if _is_compared(guest):
                    files[guest] = _row(path)
    packages = {path: owners[path] for path in files if path in owners}
    return Inventory(files=files, packages=packages, settings=read_settings(str(root / _DCONF)))


def _row(path: Path) -> FileRow:
    status = path.lstat()
    is_user = path.lstat().st_uid != 0
    mode = stat.S_IMODE(status.st_mode)
    if path.is_symlink():
        return FileRow(size_bytes=0, content=f"-> {path.readlink()}", mode=mode, is_user=is_user)
    content = digest_file(path) if stat.S_ISREG(status.st_mode) else digest_bytes(b"")
    return FileRow(size_bytes=status.st_size, content=content, mode=mode, is_user=is_user)


def _is_compared(path: str) -> bool:
    if path.startswith(_OWN_OF_FORKS):
        return False
    return not path.removeprefix(_HOME).startswith(_WRITTEN_BY_THEMSELVES)


def _owners(info: Path) -> dict[str, str]:
    """Return the package of each file, as dpkg knows it.

    Source: dpkg-query(1), ``/var/lib/dpkg/info/*.list`` and ``*.conffiles``.
    """
    owners: dict[str, str] = {}
    for listing in sorted(info.glob("*.list")):
        name = listing.stem.partition(":")[0]
        for line in listing.read_text(errors="replace").splitlines():
            owners[line] = name
    return owners
