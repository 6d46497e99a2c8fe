"""Save a desktop that was set up by hand as an image, which forks at once."""

from __future__ import annotations

import logging
import secrets
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from PIL import Image as Picture

from appliance.bringup.currency import recorded_names
from appliance.bringup.fixed_images import build_fixed, naming, register_fixed, require_free_name
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import DesktopFaultyError, ImageBuildError, MachineError, UnsupportedError
from foundation.files import write_atomic
from images.custom.checks import free_mib
from images.custom.declaration import Machine
from images.custom.fixed import DESKTOP, HAND_MADE, FixedImage
from images.custom.guest_settings import SETTINGS, GuestSettings
from images.custom.product import ImageProduct, product_path
from images.custom.registered import SCREEN, Verdict, write_verdict
from images.desktop.recipe import DISK, HOST_KEY, INITRD, KERNEL
from images.engine import parse_packages
from images.manifest import read_manifest
from images.recipe import Product
from images.recording import record_recipes
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.desktop.qemu.capture import captured
from provisioning.desktop.qemu.machine import DesktopVm
from provisioning.desktop.qemu.record import QemuRecord
from provisioning.fleet.operations import MachineOperations
from provisioning.machine_state import MachineState
from provisioning.resource import ResourceSpec
from provisioning.review.desktop import review_desktop

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings
    from images.recipe import Image, Report
    from provisioning.desktop.qemu.capture import Capture

_log = logging.getLogger(__name__)
_COMMAND_TIMEOUT_S = 60.0
_PACKAGES = ("dpkg-query", "-W", "-f", "${Package} ${Version}\n")


@dataclass(frozen=True, slots=True)
class SavedImage:
    """An image that was made from a machine.

    Attributes:
        image: the image.
        parent: label of the image that the machine was made from.
        seconds: seconds by phase: ``review``, ``capture``, ``image``, ``template``.
    """

    image: Image
    parent: str
    seconds: dict[str, float]


def save_machine(machine_id: str, name: str, settings: Settings, report: Report) -> SavedImage:
    """Save the current state of a desktop VM, RAM and disk, as an image; the machine stays as it is.

    Args:
        machine_id: id of the machine.
        name: name of the image, with a tag if any.
        settings: of the appliance.
        report: receives progress.

    Raises:
        UnknownNameError: there is no such machine.
        UsageError: the name is taken or invalid.
        MachineBusyError: the machine is in use, or another template is being made.
        UnsupportedError: it is no VM.
        DesktopFaultyError: a dialog is open, or the desktop has another fault that forks would have.
        ImageBuildError: there is not enough space.
    """
    require_free_name(name, settings)
    operations = MachineOperations(settings)
    _, record = operations.find(machine_id)
    if not isinstance(record, QemuRecord):
        raise UnsupportedError(
            f"{machine_id} cannot be saved as an image: it is a {record.kind} of the backend "
            f"{record.backend}.",
            resolution="Save a desktop VM; write images of phones as an image.yaml.",
        )
    if record.state in {MachineState.WAITING, MachineState.STARTING}:
        raise MachineError(
            f"{machine_id} is {record.state} and was not set up by hand.",
            resolution="Start one with `mesocosm machine start --image desktop`.",
        )
    with naming(name, settings), operations.started(machine_id) as machine:
        if not isinstance(machine, DesktopVm):
            raise UnsupportedError(f"{machine_id} is not a virtual machine.")
        return _Saving(machine, record, name, settings, report).run()


@dataclass(frozen=True)
class _Saving:
    """The saving of one machine.

    Attributes:
        machine: the machine, claimed and running.
        record: its record.
        name: name of the image.
        settings: of the appliance.
        report: receives progress.
    """

    machine: DesktopVm
    record: QemuRecord
    name: str
    settings: Settings
    report: Report

    def run(self) -> SavedImage:
        """Review the desktop, capture its state, and make image and template of it."""
        self._require_space()
        seconds: dict[str, float] = {}
        start_s = SYSTEM_CLOCK.monotonic_s()

        def end(phase: str) -> None:
            nonlocal start_s
            now_s = SYSTEM_CLOCK.monotonic_s()
            seconds[phase], start_s = now_s - start_s, now_s

        self.report("review", None, "reviewing the desktop")
        self._review()
        packages = parse_packages(self._read(*_PACKAGES, user="root"))
        known = GuestSettings.parse(
            self._read("dconf", "dump", "/"),
            self._read("gsettings", "list-schemas", "--print-paths"),
        )
        names = (HOST_KEY, f"{HOST_KEY}.pub")
        host_keys = {name: self.machine.files.get(f"/etc/ssh/{name}") for name in names}
        self._read("sync", user="root")
        end("review")
        self.report("capture", None, f"saving the state of {self.record.machine_id}")
        with captured(self.settings, self.machine) as capture:
            end("capture")
            record = FixedImage(
                id=secrets.token_hex(16),
                origin=HAND_MADE,
                name=self.name,
                parent=self.record.image.partition(":")[2],
                parent_digest=self.record.image_digest,
                machine=self.record.machine_id,
                saved_at=datetime.fromtimestamp(SYSTEM_CLOCK.now_s(), tz=UTC).isoformat(),
            )
            make = partial(self._make, record, capture, packages, known, host_keys)
            image = build_fixed(record, make, self.settings, self.report)
            end("image")
            self.report("template", None, "making the template for forks")
            spec = ResourceSpec(DESKTOP, self.name)
            stamp = QemuBackend(self.settings, spec, image=image).stamp()
            capture.install(self.settings, image, stamp)
        write_verdict(self.name, Verdict(digest=image.digest), self.settings)
        source = f"Made by hand from {self.record.image} on {record.saved_at[:10]}."
        register_fixed(record, self.settings, description=source)
        record_recipes(recorded_names(self.settings), self.settings)
        end("template")
        return SavedImage(image, self.record.image, seconds)

    def _require_space(self) -> None:
        """Check that disk, copy and RAM fit on the disk.

        Raises:
            ImageBuildError: they do not.
        """
        disks = (self.machine.backing, self.machine.spec.disk)
        used_mib = [path.stat().st_blocks * 512 >> 20 for path in disks]
        needed_mib = used_mib[0] + 2 * used_mib[1] + 2 * self.record.memory_mib
        if (free := free_mib(self.settings.images_dir)) < needed_mib:
            raise ImageBuildError(
                f"There is not enough space to save {self.record.machine_id}.",
                details=f"{self.settings.images_dir} has {free} MiB free; {needed_mib} MiB are needed.",
                resolution="Remove images (`mesocosm image prune`) or old runs, or set "
                "MESOCOSM_STATE_DIR to a larger disk.",
            )

    def _review(self) -> None:
        """Keep the screen, and refuse a desktop whose faults every fork would have.

        Raises:
            DesktopFaultyError: it has one.
        """
        review = review_desktop(self.machine)
        place = self.settings.custom_images_dir / self.name
        Picture.fromarray(review.frame).save(place / SCREEN)
        for line in review.warnings:
            self.report("", None, f"warning: {line}")
        if review.faults:
            raise DesktopFaultyError(
                f"{self.record.machine_id} was not saved: {review.faults[0]}.",
                details="\n".join(review.faults),
                resolution="Correct this on its screen (`mesocosm machine vnc "
                f"{self.record.machine_id}`), and save it again.",
            )

    def _read(self, *argv: str, user: str | None = None) -> str:
        """Return the output of a program; empty if it failed."""
        done = self.machine.run(argv, user=user, timeout_s=_COMMAND_TIMEOUT_S)
        if done.exit_code != 0:
            _log.warning("%s: %s ended with %d", self.record.machine_id, argv[0], done.exit_code)
            return ""
        return done.stdout.decode(errors="replace")

    def _make(  # noqa: PLR0917  # one call
        self,
        record: FixedImage,
        capture: Capture,
        packages: dict[str, str],
        known: GuestSettings,
        host_keys: dict[str, bytes],
        workdir: Path,
        report: Report,
    ) -> Product:
        """Write the files of the image."""
        source = self.machine.backing.parent
        report("disk", None, "writing the whole disk")
        capture.flatten_disk(self.settings, workdir / DISK)
        for name in (KERNEL, INITRD):
            shutil.copy2(source / name, workdir / name)
        # A fork has host keys of its own, which its disk has now.
        for name, mode in ((HOST_KEY, 0o600), (f"{HOST_KEY}.pub", 0o644)):
            write_atomic(workdir / name, host_keys[name], mode=mode)
        inherited = ImageProduct.read(source)
        product = ImageProduct(
            lineage=(self.name, *inherited.lineage),
            machine=Machine(
                memory_mib=self.record.memory_mib,
                cpus=self.record.cpus,
                disk_gib=inherited.machine.disk_gib,
                screen=self.record.screen or None,
            ),
        )
        write_atomic(product_path(workdir), product.model_dump_json(indent=1) + "\n")
        write_atomic(workdir / SETTINGS, known.model_dump_json(indent=1) + "\n")
        notes = dict(read_manifest(source).notes)
        notes[HAND_MADE] = f"made by hand from {record.machine}, a {self.record.image}"
        return Product(packages=packages, notes=notes)
