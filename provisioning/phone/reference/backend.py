"""The fleet's backend of phones."""

from __future__ import annotations

import logging
import secrets
from functools import partial
from typing import TYPE_CHECKING

from foundation.cancel import ended_by
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import ImageMissingError, MachineError, MachineStartError, MesocosmError
from foundation.files import digest_json, write_atomic
from foundation.ids import new_machine_id
from foundation.logging import suppress_logged
from images.builder import find
from images.custom.phone import find_phone_image
from images.engine import require_engine
from provisioning.end_state import END
from provisioning.handle import MachineHandle
from provisioning.machine_folder import MachineFolder, create_folder, find_folder, iter_folders
from provisioning.machine_state import MachineState
from provisioning.phone.adb.device import SHELL_USER
from provisioning.phone.adb.server import AdbServer
from provisioning.phone.profile import EMULATOR, PROFILES, REFERENCE
from provisioning.phone.reference.contents import apply_layers
from provisioning.phone.reference.engine import PhoneContainers
from provisioning.phone.reference.machine import TOKEN_FILE, ReferencePhone
from provisioning.phone.reference.record import PhoneRecord
from provisioning.protocols import READY
from provisioning.resource import PHONE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from foundation.cancel import CancelToken
    from foundation.clock import Clock
    from foundation.settings import Settings
    from images.custom.phone import PhoneImage
    from images.recipe import Image
    from provisioning.machine_record import MachineRecord
    from provisioning.phone.profile import PhoneProfile
    from provisioning.resource import ResourceSpec

_log = logging.getLogger(__name__)

# Variables that the phone's daemon reads; see images/phone/device/__main__.py.
_KEYS_VARIABLE = "MESOCOSM_ADB_KEYS"
_TOKEN_VARIABLE = "MESOCOSM_CONSOLE_TOKEN"  # noqa: S105 - the name of a variable


def reference_backend(settings: Settings, spec: ResourceSpec) -> PhoneBackend:
    """Return the backend of reference phones of an image."""
    return PhoneBackend(settings, REFERENCE, image_name=spec.image)


def emulator_backend(settings: Settings, spec: ResourceSpec) -> PhoneBackend:
    """Return the backend of emulated phones of an image."""
    return PhoneBackend(settings, EMULATOR, image_name=spec.image)


class PhoneBackend:
    """A `provisioning.fleet.backend.Backend` of phones.

    Args:
        settings: location of machines and images, and the kind of phone.
        profile: the kind of phone; by default, that of the settings.
        image_name: name of an image of one's own; empty for the phone as it is shipped.
        layered: that image, if it is not the current one of its name.
        clock: clock used for times in records.
    """

    def __init__(
        self,
        settings: Settings,
        profile: PhoneProfile | None = None,
        *,
        image_name: str = "",
        layered: PhoneImage | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._settings = settings
        self._image_name = image_name
        self._layered = layered
        self._profile = profile or PROFILES[settings.phone]
        self._clock = clock
        self._containers = PhoneContainers(settings.state_dir)
        self._server = AdbServer(settings, clock=clock)
        self._image: Image | None = None
        self._known_stamp = ""

    @property
    def image(self) -> Image:
        """Return the image of phones, which is looked up once.

        Raises:
            ImageError: the image is not built, or is corrupt.
        """
        if self._image is None:
            self._image = find(self._profile.image, self._settings)
        return self._image

    @property
    def profile(self) -> PhoneProfile:
        """Return the kind of phone."""
        return self._profile

    def with_image(self, layered: PhoneImage) -> PhoneBackend:
        """Return the backend of phones of the same kind from an image of one's own.

        Args:
            layered: the image, which need not be the current one of its name.
        """
        return PhoneBackend(
            self._settings,
            self._profile,
            image_name=layered.name,
            layered=layered,
            clock=self._clock,
        )

    @property
    def layered(self) -> PhoneImage | None:
        """Return the image of one's own; None for the phone as it is shipped.

        Raises:
            ImageMissingError: it is not built any more.
        """
        if self._layered is None and self._image_name:
            self._layered = find_phone_image(self._image_name, self._settings)
            if self._layered is None:
                raise ImageMissingError(
                    f"There is no image of a phone called {self._image_name!r}.",
                    resolution="Run `mesocosm image build FOLDER`.",
                )
        return self._layered

    def image_digest(self) -> str:
        """Return the digest of what its phones start with: the image, and the layers on it."""
        return self.layered.digest(self.image.digest) if self.layered else self.image.digest

    def memory_bytes(self, machine_id: str) -> int:
        """Return the memory used by a running phone's container, without the page cache, in bytes.

        Raises:
            MachineError: the container is not running, or Docker did not report its memory.
        """
        return self._containers.memory_bytes(machine_id)

    @property
    def machine_mib(self) -> int:
        """Return the memory that a phone may use, MiB: its container's limit."""
        return self._profile.memory_mib

    def reserved_mib(self, record: MachineRecord) -> int:
        """Return the memory that a phone may use, MiB."""
        del record
        return self.machine_mib

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[ReferencePhone]:
        """Make a phone that is running, verified, and saved as ``ready``.

        Args:
            say: called with one line of progress before slow steps.
            cancel: removes its container, which ends every wait for it.

        Raises:
            CancelledError: the call was cancelled.
            MesocosmError: the phone cannot be made; nothing of it remains.
        """
        self._profile.require()
        say(f"starting a phone ({self._profile.backend}) from {self.image.label}")
        handle = self._create()
        end = partial(self.remove_by_id, handle.folder.machine_id)
        try:
            with ended_by(cancel, end):
                handle.machine.start()
                self._prepare(handle.machine, say)
                handle.machine.snapshots.save(READY)
            handle.folder.mark(MachineState.READY)
        except BaseException:
            handle.delete()
            raise
        return handle

    def _prepare(self, phone: ReferencePhone, say: Callable[[str], None]) -> None:
        """Restore the saved state of an image of one's own; if it has none, apply its layers."""
        if self.layered is None:
            return
        state = self.layered.state(self.image.digest, self._profile.backend)
        if state is None:
            apply_layers(phone, self.layered.layers, say)
            return
        say(f"restoring the state of {self.layered.name}")
        phone.load_kept(state)
        phone.snapshots.delete_snapshot(END)

    def attach(self, folder: MachineFolder, record: MachineRecord) -> ReferencePhone:
        """Return the object for an existing phone, running or not."""
        is_ours = record.backend == self._profile.backend
        profile = self._profile if is_ours else None
        return ReferencePhone(self._settings, folder, record, profile=profile, clock=self._clock)

    def fits(self, record: MachineRecord) -> bool:
        """Return whether a phone has the current image and accepts the current ADB key."""
        return record.stamp == self._stamp()

    def unkeepable_reason(self) -> str:
        """Return why phones cannot be kept; empty for the reference phone."""
        if self._profile.keeps_end_states:
            return ""
        return f"the state of a phone of the backend {self._profile.backend} cannot leave its container"

    def start_kept(self, folder: Path, record: MachineRecord) -> MachineHandle[ReferencePhone]:
        """Start a new phone, restore a kept state in it, and verify it.

        It uses the host's clock, so it shows the current time.

        Raises:
            MachineError: its image has changed, or the state could not be restored.
            ImageError: its image is not built, or is corrupt.
        """
        if record.backend != self._profile.backend or record.image_digest != self.image_digest():
            raise MachineStartError(
                f"The kept {record.machine_id} was made from another image than the current one.",
                details=f"Its image: {record.image} ({record.image_digest[:12]}). Current image: "
                f"{self._label} ({self.image_digest()[:12]}).",
                resolution="The kept state can no longer be started; run the trial again.",
            )
        handle = self._create()
        try:
            new_record = handle.folder.read()
            if new_record is not None:  # it ends with its lease, or with its holder
                handle.folder.write(new_record.model_copy(update={"is_fork": True}))
            handle.machine.start()
            handle.machine.load_kept(folder)
            handle.folder.mark(MachineState.LEASED)
        except BaseException:
            handle.delete()
            raise
        return handle

    def remove_by_id(self, machine_id: str) -> None:
        """Remove the container of a machine; does nothing if there is none."""
        with suppress_logged(_log, f"remove {machine_id}", MesocosmError):
            self._containers.remove(machine_id)

    def remove_strays(self) -> list[str]:
        """Remove this appliance's containers that have no folder; return one line for each."""
        gone = []
        for machine_id in self._containers.names():
            if not find_folder(self._settings, machine_id).path.is_dir():
                self._containers.remove(machine_id)
                gone.append(f"{machine_id}: its folder is gone")
        return gone

    def require_host(self) -> None:
        """Check that the Docker engine answers, and that the host has the phones' devices.

        Raises:
            RequirementError: the Docker engine does not answer, or a device is missing.
        """
        require_engine()
        self._profile.require()

    def list_phones(self) -> list[ReferencePhone]:
        """Return all phones of this appliance that have a record, running or not."""
        return [
            self.attach(folder, record)
            for folder in iter_folders(self._settings)
            if (record := folder.read()) is not None and record.backend == self._profile.backend
        ]

    def _create(self) -> MachineHandle[ReferencePhone]:
        """Create the folder, the console token and the container of a new phone."""
        machine_id = new_machine_id(PHONE)
        claim = create_folder(self._settings.devices_dir, machine_id)
        folder = claim.folder
        phone = self.attach(folder, folder.write(self._describe(machine_id)))
        try:
            token = secrets.token_hex(16)
            write_atomic(folder.path / TOKEN_FILE, token, mode=0o600)
            environment = {
                _KEYS_VARIABLE: self._server.public_key(),
                _TOKEN_VARIABLE: token,
            }
            saved = self.image.file(self._profile.saved) if self._profile.saved else None
            self._containers.create(
                machine_id, self._docker_image(), environment, self._profile, saved
            )
        except BaseException:
            phone.delete()
            claim.release()
            raise
        return MachineHandle(phone, claim)

    def _describe(self, machine_id: str) -> PhoneRecord:
        return PhoneRecord(
            machine_id=machine_id,
            kind=PHONE,
            backend=self._profile.backend,
            image=self._label,
            image_digest=self.image_digest(),
            accelerator=self._profile.accelerator,
            created_s=self._clock.now_s(),
            user=SHELL_USER,
            home="/sdcard",
            stamp=self._stamp(),
        )

    @property
    def _label(self) -> str:
        return f"{self.image.name}:{self.layered.name}" if self.layered else self.image.label

    def _docker_image(self) -> str:
        if self.image.tag is None:
            raise MachineError(f"{self.image.label} is not a Docker image.")
        return self.image.tag

    def _stamp(self) -> str:
        """Return the digest of everything a saved phone depends on: its image and its ADB key."""
        if not self._known_stamp:
            parts = {"image": self.image_digest(), "key": self._server.public_key()}
            self._known_stamp = digest_json(parts)
        return self._known_stamp
