"""The fleet's backend of desktop containers."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from foundation.cancel import ended_by
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import ImageError, MachineError, MesocosmError
from foundation.files import FileLock, digest_json
from foundation.ids import new_machine_id
from foundation.logging import suppress_logged
from images.builder import find
from images.custom.fixed import HAND_MADE
from images.engine import require_engine
from images.manifest import read_manifest
from provisioning.desktop.container.baseline import Baseline
from provisioning.desktop.container.engine import DesktopContainers
from provisioning.desktop.container.machine import DesktopContainer
from provisioning.desktop.container.record import ContainerRecord
from provisioning.desktop.probed import AGENT_HOME, AGENT_USER
from provisioning.handle import MachineHandle
from provisioning.links.zipapp import build_probe
from provisioning.machine_folder import MachineFolder, create_folder, find_folder
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP, ResourceSpec
from provisioning.review.desktop import review_desktop

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.cancel import CancelToken
    from foundation.clock import Clock
    from foundation.settings import Settings
    from images.recipe import Image
    from provisioning.handle import HostResource
    from provisioning.machine_record import MachineRecord
    from provisioning.protocols import ResetReport

_log = logging.getLogger(__name__)

_DEFAULT = ResourceSpec(DESKTOP)


class ContainerBackend:
    """A `provisioning.fleet.backend.Backend` of desktop containers.

    Args:
        settings: size of the machines, and location of machines and images.
        spec: names the image; by default, the one that settings choose.
        clock: clock used for times in records.
    """

    def __init__(
        self, settings: Settings, spec: ResourceSpec = _DEFAULT, *, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._settings = settings
        self._spec = spec
        self._label = f"desktop-container:{spec.image}" if spec.image else "desktop-container"
        self._clock = clock
        self._containers = DesktopContainers(settings.state_dir)
        self._image: Image | None = None
        self._known_stamp = ""

    @property
    def image(self) -> Image:
        """Return the image of container desktops, which is looked up once.

        Raises:
            ImageError: the image is not built, or is corrupt.
        """
        if self._image is None:
            self._image = find(self._label, self._settings)
        return self._image

    @property
    def machine_mib(self) -> int:
        """Return the memory that a new desktop may use, MiB: its container's limit, including files."""
        return self._settings.desktop_memory_mib

    def reserved_mib(self, record: MachineRecord) -> int:
        """Return the memory that a desktop may use, MiB."""
        del record
        return self.machine_mib

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[DesktopContainer]:
        """Make a running and verified desktop.

        The first desktop of an image and probe is made twice: the state of the first is kept as
        the baseline, and the second must match it.

        Args:
            say: called with one line of progress before slow steps.
            cancel: removes its container, which ends every wait for it.

        Raises:
            CancelledError: the call was cancelled.
            MesocosmError: the desktop cannot be made; nothing of it remains.
        """
        say(f"starting a desktop container from {self.image.label}")
        handle = self._create()
        end = partial(self.remove_by_id, handle.folder.machine_id)
        try:
            with ended_by(cancel, end):
                self._learn(handle.machine, say)
            with ended_by(cancel, end):
                handle.machine.recreate()
            handle.folder.mark(MachineState.READY)
        except BaseException:
            handle.delete()
            raise
        return handle

    @property
    def fork_mib(self) -> int:
        """Return the memory that is reserved for a standby container, MiB."""
        return self.machine_mib

    def has_template(self) -> bool:
        """Return whether the baseline of a fresh container is known."""
        return self._baseline().read() is not None

    def ensure_template(self, machine: HostResource, say: Callable[[str], None]) -> None:
        """Do nothing: containers start from their image, and the first one recorded the baseline."""
        del machine, say

    def start_standby(
        self, *, is_rehearsed: bool = True, cancel: CancelToken | None = None
    ) -> MachineHandle[DesktopContainer] | None:
        """Start a standby container; return None if no baseline is known.

        Args:
            is_rehearsed: ignored: a container is verified when it is started.
            cancel: removes the container, which ends every wait for it.

        Raises:
            CancelledError: the call was cancelled.
            MesocosmError: the container cannot be started; nothing of it remains.
        """
        del is_rehearsed
        if self._baseline().read() is None:
            return None
        handle = self._create(is_fork=True)
        try:
            with ended_by(cancel, partial(self.remove_by_id, handle.folder.machine_id)):
                handle.machine.recreate()
            handle.folder.mark(MachineState.WAITING)
        except BaseException:
            handle.delete()
            raise
        return handle

    def is_up(self, machine_id: str) -> bool:
        """Return whether a machine's container is running.

        Raises:
            MesocosmError: Docker does not answer.
        """
        return self._containers.is_running(machine_id)

    def wake(self, machine: HostResource) -> ResetReport:
        """Verify a standby container.

        Raises:
            MesocosmError: the container has changed since its start; it must not be used.
        """
        if not isinstance(machine, DesktopContainer):
            raise MachineError(f"{machine.info.machine_id} is not a desktop container.")
        machine.folder.mark(MachineState.STARTING)
        return machine.wake()

    def attach(self, folder: MachineFolder, record: MachineRecord) -> DesktopContainer:
        """Return the object for an existing desktop of this image.

        Raises:
            ImageError: its image is gone.
        """
        if self.image.tag is None:
            raise MachineError(f"{self.image.label} is not a Docker image.")
        return DesktopContainer(
            self._settings, folder, record, self.image.tag, self._baseline(), clock=self._clock
        )

    def fits(self, record: MachineRecord) -> bool:
        """Return whether a desktop has the current image, probe and size.

        It does not if an image that is not the default is not built.

        Raises:
            ImageError: the default image is not built, or is corrupt.
        """
        try:
            return record.stamp == self._stamp()
        except ImageError:
            if self._spec.image:
                return False
            raise

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
        """Check that the Docker engine answers.

        Raises:
            RequirementError: the Docker engine does not answer.
        """
        require_engine()

    def _create(self, *, is_fork: bool = False) -> MachineHandle[DesktopContainer]:
        """Create the folder and record of a new desktop.

        Args:
            is_fork: whether the desktop ends with its lease.
        """
        machine_id = new_machine_id(DESKTOP)
        claim = create_folder(self._settings.devices_dir, machine_id)
        folder = claim.folder
        try:
            record = folder.write(self._describe(machine_id, is_fork=is_fork))
            return MachineHandle(self.attach(folder, record), claim)
        except BaseException:
            folder.remove()
            claim.release()
            raise

    def _learn(self, machine: DesktopContainer, say: Callable[[str], None]) -> None:
        """Take the baseline if none is known; only one process does so at a time."""
        baseline = self._baseline()
        if baseline.read() is not None:
            return
        lock = FileLock(self._settings.run_dir / "baseline.lock")
        lock.acquire()
        try:
            if baseline.read() is None:
                say("taking the baseline of a fresh desktop container (one-time)")
                machine.recreate()
                self._review(machine, say)
        finally:
            lock.release()

    def _review(self, machine: DesktopContainer, say: Callable[[str], None]) -> None:
        """Reject a desktop whose faults all others would have; warn of a changed picture."""
        name = machine.info.machine_id
        try:
            review = review_desktop(machine)
            for line in review.warnings:
                say(f"warning: {line}")
            review.require_faultless(name, self._settings.refused_dir / f"{name}.png")
        except BaseException:
            self._baseline().remove()
            raise

    def _baseline(self) -> Baseline:
        return Baseline(self._settings.state_dir / "baselines" / self._stamp()[:24])

    def _describe(self, machine_id: str, *, is_fork: bool) -> ContainerRecord:
        notes = read_manifest(self.image.path).notes
        return ContainerRecord(
            machine_id=machine_id,
            kind=DESKTOP,
            image=self.image.label,
            image_digest=self.image.digest,
            accelerator="none",
            browser=notes.get("browser", ""),
            is_hand_made=HAND_MADE in notes,
            created_s=self._clock.now_s(),
            user=AGENT_USER,
            home=AGENT_HOME,
            is_fork=is_fork,
            stamp=self._stamp(),
        )

    def _stamp(self) -> str:
        """Return the digest of everything a fresh desktop depends on; computed once."""
        if not self._known_stamp:
            self._known_stamp = self._digest_dependencies()
        return self._known_stamp

    def _digest_dependencies(self) -> str:
        return digest_json(
            {
                "image": self.image.digest,
                "probe": build_probe().digest,
                "memory_mib": self._settings.desktop_memory_mib,
            }
        )
