"""Templates that forks start from, made once from a saved desktop.

::

    <templates_dir>/<stamp>/
        ram             the guest's RAM; forks map it privately, so its pages are shared
        devices         migration stream of everything except the RAM
        disk.qcow2      the disk at that time; each fork has an overlay on top
        digest.json     the state that every fork is verified against, with its picture next to it
        template.json   the record: what the template was made from

The stamp is a digest of everything the streams depend on: image, QEMU, CPU model, probe, size. A
template with another stamp is never loaded; it is removed when a new one is made.
"""

from __future__ import annotations

import logging
import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError, SnapshotError
from foundation.files import FileLock, locked, write_atomic
from foundation.process import run
from provisioning.desktop.qemu.host import run_qemu_img
from provisioning.desktop.qemu.identity import new_port
from provisioning.desktop.qemu.migration import (
    StreamChecksum,
    ignore_shared_ram,
    read_verified,
    save_stream,
)
from provisioning.desktop.qemu.rewind_base import DEVICES_AT_READY, RAM, find_base
from provisioning.desktop.qemu.saved_vm import FileStamp, describe_change, stamp_of_file, write_back
from provisioning.desktop.qemu.starting import start_domain
from provisioning.protocols import READY
from provisioning.reset.saved_state import SavedState, picture_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from foundation.settings import Settings
    from provisioning.desktop.qemu.saved_vm import SavedVm

_log = logging.getLogger(__name__)

DEVICES, DISK, DIGEST, RECORD = "devices", "disk.qcow2", "digest.json", "template.json"
TEMPLATE_PREFIX = "template-"
"""Prefix of the name of the domain that makes a template."""

TEMPLATE_VERSION: Literal[2] = 2
_STAMP_DIGITS = 16
_LOCK = ".lock"
_BUILD = ".build"
_COPY_TIMEOUT_S = 300.0


class TemplateRecord(BaseModel):
    """The record of a template.

    Attributes:
        stamp: digest of everything it depends on.
        image: label of the image.
        backing: path of the image's disk, which backs the template's own.
        files: stamp (size in bytes, modification time in ns) of every file that forks use, by name,
            or by path if outside the template; a file with another stamp was altered.
        stream: checksum of QEMU's stream of the devices' state.
        seconds: how long making the template took.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[2] = TEMPLATE_VERSION
    stamp: str
    image: str
    backing: str
    files: dict[str, FileStamp]
    stream: StreamChecksum
    seconds: float


@dataclass(frozen=True, slots=True)
class Template:
    """A template on disk.

    Attributes:
        path: its folder.
        record: its record.
    """

    path: Path
    record: TemplateRecord

    def devices(self) -> bytes:
        """Read and verify the stream of everything else.

        Raises:
            SnapshotError: the stream is not what QEMU sent.
        """
        return read_verified(self.path / DEVICES, self.record.stream)

    @property
    def disk(self) -> Path:
        """Return the path of the disk that backs the forks' overlays."""
        return self.path / DISK

    def saved(self) -> SavedState:
        """Read the state that forks are verified against.

        Raises:
            SnapshotError: the state is gone or damaged.
        """
        path = self.path / DIGEST
        try:
            return _read_saved(path, stamp_of_file(path))
        except (OSError, ValueError) as exc:
            raise SnapshotError(f"The template {self.path.name} is damaged.", str(exc)) from exc

    def describe_damage(self) -> str:
        """Return in one line how the template is damaged; empty if it is not."""
        for name, stamp in self.record.files.items():
            if wrong := describe_change(self.path / name, stamp):
                return wrong
        return ""


@lru_cache(maxsize=4)
def _read_saved(path: Path, stamp: FileStamp) -> SavedState:
    """Read a saved state; cached as long as its file does not change."""
    del stamp
    return SavedState.read(path)


def templates_dir(settings: Settings) -> Path:
    """Return the folder of all templates."""
    return settings.state_dir / "templates"


def open_template(path: Path) -> Template:
    """Return the template in a folder.

    Raises:
        SnapshotError: the template is gone or damaged.
    """
    try:
        record = TemplateRecord.model_validate_json((path / RECORD).read_bytes())
    except (OSError, ValueError) as exc:
        raise SnapshotError(f"The template {path.name} is gone or damaged.", str(exc)) from exc
    template = Template(path, record)
    if damage := template.describe_damage():
        raise SnapshotError(f"The template {path.name} is damaged.", damage)
    return template


def template_path(settings: Settings, stamp: str) -> Path:
    """Return the folder of the template with a stamp, whether it exists or not."""
    return templates_dir(settings) / stamp[:_STAMP_DIGITS]


@contextmanager
def making_templates(settings: Settings, name: str) -> Iterator[Path]:
    """Yield an empty folder for a template; what is left of it at the end is removed.

    Args:
        settings: location of templates.
        name: distinguishes the folder.

    Raises:
        MachineBusyError: another process makes a template.
    """
    folder = templates_dir(settings)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / _LOCK, what="The making of templates"):
        for left in folder.glob(f"{_BUILD}-*"):  # of a killed process
            shutil.rmtree(left, ignore_errors=True)
        build = folder / f"{_BUILD}-{name}"
        build.mkdir()
        try:
            yield build
        finally:
            shutil.rmtree(build, ignore_errors=True)


def find_template(settings: Settings, stamp: str) -> Template | None:
    """Return the template with a stamp if it exists and is intact; remove it if it is damaged."""
    path = template_path(settings, stamp)
    if not path.is_dir():
        return None
    try:
        template = open_template(path)
    except SnapshotError:
        shutil.rmtree(path, ignore_errors=True)
        return None
    return template if template.record.stamp == stamp else None


def is_being_made(settings: Settings) -> bool:
    """Return whether a process is making a template."""
    return FileLock(templates_dir(settings) / _LOCK).is_taken()


def remove_templates(settings: Settings, *, but: str = "", image: str = "") -> list[str]:
    """Remove all templates except the one with a stamp; return their names.

    Args:
        settings: location of templates.
        but: stamp of the template that stays.
        image: label of an image; intact templates of other images stay too.
    """
    folder = templates_dir(settings)
    gone = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.is_dir() and path.name != but[:_STAMP_DIGITS] and not _is_of_other(path, image):
            shutil.rmtree(path, ignore_errors=True)
            gone.append(path.name)
    return gone


def keep_only(settings: Settings, stamp: str, image: str) -> list[str]:
    """Remove the templates of an image except the one with a stamp; return their names.

    Args:
        settings: location of templates.
        stamp: stamp of the template that stays.
        image: label of the image.
    """
    folder = templates_dir(settings)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / _LOCK, what="The making of templates"):
        return remove_templates(settings, but=stamp, image=image)


def remove_template(settings: Settings, stamp: str) -> None:
    """Remove the template with a stamp, if there is one."""
    shutil.rmtree(templates_dir(settings) / stamp[:_STAMP_DIGITS], ignore_errors=True)


def remove_templates_of(settings: Settings, labels: Collection[str]) -> list[str]:
    """Remove the templates of some images; return their names.

    Args:
        settings: location of templates.
        labels: labels of the images.
    """
    gone = []
    for path in sorted(templates_dir(settings).glob(f"*/{RECORD}")):
        try:
            label = open_template(path.parent).record.image
        except SnapshotError:
            continue  # the next template that is made removes it
        if label in labels:
            shutil.rmtree(path.parent)
            gone.append(path.parent.name)
    return gone


def _is_of_other(path: Path, image: str) -> bool:
    """Return whether a folder holds an intact template of another image; False if none is given."""
    if not image:
        return False
    try:
        return open_template(path).record.image != image
    except SnapshotError:
        return False


def make_template(
    settings: Settings, vm: SavedVm, stamp: str, *, keeps_others: bool = False
) -> Template:
    """Make the template of a running desktop that has the snapshot ``ready``.

    The desktop is paused while its disk is copied, then resumed.

    Args:
        settings: location of templates.
        vm: the desktop, held by the caller.
        stamp: digest of everything the template depends on.
        keeps_others: True keeps other templates of the image, which is not used yet.

    Raises:
        MesocosmError: the template cannot be made; nothing of it remains.
    """
    folder = templates_dir(settings)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / _LOCK, what="The making of templates"):
        if template := find_template(settings, stamp):
            return template
        build = folder / f"{_BUILD}-{stamp[:_STAMP_DIGITS]}"
        if not keeps_others:
            remove_templates(settings, image=vm.info.image)
        shutil.rmtree(build, ignore_errors=True)  # of a killed process
        build.mkdir()
        try:
            record = _make(settings, vm, build, stamp)
            write_atomic(build / RECORD, record.model_dump_json(indent=1))
            path = template_path(settings, stamp)
            build.rename(path)
        except BaseException:
            shutil.rmtree(build, ignore_errors=True)
            raise
    return Template(path, record)


def _make(settings: Settings, vm: SavedVm, folder: Path, stamp: str) -> TemplateRecord:
    _log.info("creating the template %s from %s", folder, vm.info.machine_id)
    start_s = SYSTEM_CLOCK.monotonic_s()
    hypervisor, name = vm.hypervisor, vm.info.machine_id
    saved, frozen = folder / DISK, folder / "frozen.qcow2"
    hypervisor.qmp(name, "stop")
    try:
        copy_sparse(vm.spec.disk, saved)
    finally:
        hypervisor.resume(name)
    state = vm.folder.path / "snapshots" / f"{READY}.json"
    shutil.copyfile(state, folder / DIGEST)
    shutil.copyfile(picture_path(state), picture_path(folder / DIGEST))
    spec = replace(
        vm.spec,
        name=f"{TEMPLATE_PREFIX}{stamp[:_STAMP_DIGITS]}",
        folder=folder,
        ssh_port=new_port(),
        ram=folder / RAM,
        is_template=True,
    )
    # A desktop that is rewound from a RAM file shares that file with the forks.
    base, made_ns = find_base(vm.folder.path), 0
    if base:
        _link(base, folder / RAM)
        made_ns = base.stat().st_mtime_ns
    start_domain(hypervisor, spec, paused=True)
    try:
        if base:
            ignore_shared_ram(hypervisor, spec.name)
        if output := hypervisor.monitor(spec.name, f"loadvm {DEVICES_AT_READY if base else READY}"):
            raise SnapshotError("The saved desktop could not be loaded.", details=output)
        stream = save_stream(hypervisor, spec.name, folder / DEVICES)
    finally:
        hypervisor.destroy(spec.name)
        if base:
            # This QEMU wrote its generation id into the shared file. Every QEMU writes its own when
            # it loads the state, so the file is still the one that was recorded.
            os.utime(base, ns=(made_ns, made_ns))
    backing = vm.backing
    # Keep only what the desktop wrote, without the RAM that was saved in the disk.
    files = ("-F", "qcow2", "-B", str(backing), str(saved), str(frozen))
    with _clear_errors():
        convert = ("convert", "-q", "-O", "qcow2", *files)
        run_qemu_img(settings, *convert, timeout_s=_COPY_TIMEOUT_S)
    frozen.replace(saved)
    for left in ("serial.log", "probe.sock", "streams.sock", "input.sock", "vnc.sock"):
        (folder / left).unlink(missing_ok=True)
    for name in (RAM, DEVICES, DISK, DIGEST):
        write_back(folder / name)
    return TemplateRecord(
        stamp=stamp,
        image=vm.info.image,
        backing=str(backing),
        files={
            **{name: stamp_of_file(folder / name) for name in (RAM, DEVICES, DISK, DIGEST)},
            str(backing): stamp_of_file(backing),
        },
        stream=stream,
        seconds=round(SYSTEM_CLOCK.monotonic_s() - start_s, 3),
    )


def _link(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # another file system
        copy_sparse(source, target)


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a file with its holes.

    Raises:
        SnapshotError: the file cannot be written.
    """
    argv = ["cp", "--sparse=always", "--reflink=auto", str(source), str(target)]
    with _clear_errors():
        run(argv, timeout_s=_COPY_TIMEOUT_S).require(
            "Check the free space of the state folder with `mesocosm doctor`."
        )


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except MesocosmError as exc:
        raise SnapshotError("The template's disk could not be written.", str(exc)) from exc
