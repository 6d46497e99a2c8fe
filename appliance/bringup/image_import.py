"""Import an image from a file: with its memory state where that can be loaded, else by a boot."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from appliance.bringup.currency import recorded_names
from appliance.bringup.custom_removal import remove_custom_image
from appliance.bringup.fixed_images import (
    build_fixed,
    naming,
    register_fixed,
    require_free_name,
    require_image,
)
from appliance.bringup.image_file import (
    FOLDER,
    IMAGE,
    TEMPLATE,
    ExportRecord,
    Facts,
    access_key,
    extract,
    read_record,
)
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import ImageBuildError, MesocosmError, UsageError
from foundation.files import digest_json, write_atomic
from foundation.process import run
from images.builder import find
from images.custom.checks import free_mib
from images.custom.declaration import FILE
from images.custom.fixed import DESKTOP, FIXED, HAND_MADE, FixedImage, split_reference
from images.custom.registered import Verdict, find_registered, write_verdict
from images.desktop.recipe import DISK
from images.hypervisor.tools import HYPERVISOR, hypervisor_tools
from images.manifest import MANIFEST, read_manifest
from images.recipe import Product
from images.recording import record_recipes
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.desktop.qemu.capture import install_template
from provisioning.desktop.qemu.template import making_templates
from provisioning.resource import ResourceSpec

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings
    from images.recipe import Image, Report

_ACCESS_KEY = "access_key"
_TIMEOUT_S = 900.0


@dataclass
class ImportedImage:
    """An image that was imported.

    Attributes:
        image: the image.
        is_new: False if it was there already, and nothing was done.
        differs: what differs here from where it was saved, so that it was booted and saved anew.
        has_memory: whether the file has a memory state.
        seconds: seconds by phase: ``extract``, ``image``, ``memory`` or ``boot``.
        machine_id: the machine that was booted; empty if none was.
    """

    image: Image
    is_new: bool = True
    differs: tuple[str, ...] = ()
    has_memory: bool = True
    seconds: dict[str, float] = field(default_factory=dict)
    machine_id: str = ""


def import_image(
    file: Path, settings: Settings, report: Report, *, name: str = ""
) -> ImportedImage:
    """Import an image; if it is there already, nothing is done.

    Args:
        file: a file of `image export`.
        settings: of the appliance.
        report: receives progress.
        name: its name here; by default, that in the file.

    Raises:
        UsageError: another image has that name, or there is no such file.
        ImageCorruptError: the file is truncated or damaged; nothing of it is used.
        ImageBuildError: there is not enough space.
        MesocosmError: the image had to be booted, and this failed; it is removed again.
    """
    if not file.is_file():
        raise UsageError(f"There is no file {file}.")
    record = read_record(file)
    name = name or record.name
    split_reference(name)
    if find_registered(name, settings) is not None:
        try:
            present = require_image(name, settings)
        except MesocosmError:
            present = None
        if present is not None and present.digest == record.digest:
            return ImportedImage(present, is_new=False, has_memory=record.has_memory)
    require_free_name(name, settings)
    QemuBackend(settings).require_host()
    _require_space(file, record, settings)
    with naming(name, settings):
        return _Import(file, record, name, settings, report).run()


def _require_space(file: Path, record: ExportRecord, settings: Settings) -> None:
    """Check that the extracted files fit on the disk.

    Raises:
        ImageBuildError: they do not.
    """
    disk = sum(entry.size_bytes for name, entry in record.members.items() if name.startswith(IMAGE))
    needed_mib = (disk >> 20) + 1024 * record.has_memory
    if (free := free_mib(settings.images_dir)) < needed_mib:
        raise ImageBuildError(
            f"There is not enough space to import {file}.",
            details=f"{settings.images_dir} has {free} MiB free; {needed_mib} MiB are needed.",
            resolution="Remove images (`mesocosm image prune`) or old runs, or set "
            "MESOCOSM_STATE_DIR to a larger disk.",
        )


@dataclass(frozen=True)
class _Import:
    """The import of one image.

    Attributes:
        file: the file.
        record: its record.
        name: name of the image.
        settings: of the appliance.
        report: receives progress.
    """

    file: Path
    record: ExportRecord
    name: str
    settings: Settings
    report: Report

    def run(self) -> ImportedImage:
        """Extract and verify the file; register the image; install or make its memory state."""
        seconds: dict[str, float] = {}
        start_s = SYSTEM_CLOCK.monotonic_s()

        def end(phase: str) -> None:
            nonlocal start_s
            now_s = SYSTEM_CLOCK.monotonic_s()
            seconds[phase], start_s = now_s - start_s, now_s

        # The same file system as templates, which the hypervisor's programs may write to.
        with making_templates(self.settings, f"import-{self.record.digest[:12]}") as folder:
            extract(self.file, folder, self.record, self.report)
            end("extract")
            has_other_key = self._has_other_key()
            fixed = self._fixed(has_other_key=has_other_key)
            make = partial(self._make, folder / IMAGE, has_other_key=has_other_key)
            image = build_fixed(fixed, make, self.settings, self.report)
            end("image")
            imported = ImportedImage(image, has_memory=self.record.has_memory, seconds=seconds)
            imported.differs = self.record.facts.differences(Facts.of_host(image, self.settings))
            register_fixed(fixed, self.settings, description="", folder=self._own_folder(folder))
            verdict = Verdict(digest=image.digest, passed=self.record.passed)
            write_verdict(self.name, verdict, self.settings)
            if self.record.has_memory and not imported.differs:
                self._install(folder / TEMPLATE, image)
                end("memory")
        if "memory" not in seconds:
            imported.machine_id = self._boot(image)
            end("boot")
        record_recipes(recorded_names(self.settings), self.settings)
        return imported

    def _has_other_key(self) -> bool:
        """Return whether the image's SSH server is opened by a key that is not this appliance's."""
        here = Facts.of_host(find(DESKTOP, self.settings), self.settings)
        return here.access_key != self.record.facts.access_key

    def _fixed(self, *, has_other_key: bool) -> FixedImage:
        own = self.record.id or digest_json({"imported": self.record.digest})
        return FixedImage(
            id=digest_json({"key": access_key(self.settings), "of": own}) if has_other_key else own,
            origin=HAND_MADE if self.record.is_hand_made else "imported",
            name=self.name,
            parent=self.record.parent,
            saved_at=self.record.exported_at,
        )

    def _make(self, source: Path, workdir: Path, report: Report, *, has_other_key: bool) -> Product:
        """Move the extracted files to where the image is made."""
        manifest = read_manifest(source)
        for path in source.iterdir():
            if path.name != MANIFEST:
                path.replace(workdir / path.name)
        notes = {**manifest.notes, "imported": f"imported from {self.file.name}"}
        if has_other_key:
            report("disk", None, "writing this appliance's key to the disk")
            self._write_key(workdir)
        return Product(packages=manifest.packages, notes=notes)

    def _write_key(self, workdir: Path) -> None:
        """Let this appliance log in to machines of the image."""
        raw, key = workdir / "disk.raw", workdir / "key"
        write_atomic(key, access_key(self.settings), mode=0o600)
        disk = workdir / DISK
        with hypervisor_tools(find(HYPERVISOR, self.settings), workdir) as tools:
            convert = ("qemu-img", "convert", "-W", "-O")
            tools.run(*convert, "raw", str(disk), str(raw), timeout_s=_TIMEOUT_S)
            replace_access_key(raw, key)
            tools.run(*convert, "qcow2", str(raw), str(disk), timeout_s=_TIMEOUT_S)
        raw.unlink()
        key.unlink()

    def _own_folder(self, folder: Path) -> Path | None:
        """Return the image's folder, if it was built from one."""
        own = folder / FOLDER
        if not (own / FILE).is_file():
            return None
        (own / FIXED).unlink(missing_ok=True)
        return own

    def _install(self, folder: Path, image: Image) -> None:
        """Make the extracted memory state a template."""
        assert self.record.stream is not None  # noqa: S101 - checked by the caller
        self.report("memory", None, "installing the memory state")
        backend = QemuBackend(self.settings, ResourceSpec(DESKTOP, self.name), image=image)
        install_template(
            self.settings,
            folder,
            image,
            backend.stamp(),
            self.record.stream,
            start_s=SYSTEM_CLOCK.monotonic_s(),
        )

    def _boot(self, image: Image) -> str:
        """Boot, review and save a machine of the image; return its id.

        Raises:
            MesocosmError: this failed; the image is removed again.
        """
        backend = QemuBackend(self.settings, ResourceSpec(DESKTOP, self.name), image=image)
        try:
            handle = backend.make(lambda line: self.report("boot", None, line))
        except BaseException:
            remove_custom_image(self.name, self.settings, is_locked=True)
            raise
        handle.release()
        return handle.folder.machine_id


def replace_access_key(raw: Path, key: Path) -> None:
    """Replace the key that opens the SSH server on a disk without partitions.

    Args:
        raw: the disk, ext4.
        key: file with the public key.

    Raises:
        ToolError: debugfs is missing or failed.

    Source: debugfs(8).
    """
    path = "/root/.ssh/authorized_keys"
    script = f'rm {path}\nwrite "{key}" {path}\nset_inode_field {path} mode 0100600\n'
    for name in ("uid", "gid"):
        script += f"set_inode_field {path} {name} 0\n"
    argv = ["debugfs", "-w", "-f", "-", str(raw)]
    run(argv, stdin=script.encode(), timeout_s=_TIMEOUT_S).require()
