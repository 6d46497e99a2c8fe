"""A desktop VM: one QEMU process behind libvirt, and its probe."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from foundation.cancel import CancelToken
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import (
    LinkError,
    MachineStartError,
    MesocosmError,
    SnapshotError,
)
from foundation.logging import suppress_logged
from foundation.measures import record
from images.desktop.recipe import DISK, HOST_KEY, INITRD, KERNEL
from provisioning.desktop.probed import ProbedDesktop
from provisioning.desktop.qemu.boot import GuestBoot
from provisioning.desktop.qemu.console import find_report, size_of
from provisioning.desktop.qemu.domain import INPUT_SOCKET, SERIAL_LOG, DomainSpec
from provisioning.desktop.qemu.egress import open_guest_proxy
from provisioning.desktop.qemu.end_state import keep_desktop
from provisioning.desktop.qemu.ending import find_end
from provisioning.desktop.qemu.host import hypervisor_address
from provisioning.desktop.qemu.identity import new_identity
from provisioning.desktop.qemu.input import VmInput
from provisioning.desktop.qemu.input_monitor import InputMonitor
from provisioning.desktop.qemu.migration import ignore_shared_ram, load_stream
from provisioning.desktop.qemu.page_cache import load_into_page_cache
from provisioning.desktop.qemu.rewind_base import RAM, ensure_base
from provisioning.desktop.qemu.rights import grant_sudo
from provisioning.desktop.qemu.saved_vm import describe_change
from provisioning.desktop.qemu.screen import VmScreen
from provisioning.desktop.qemu.snapshots import VmSnapshots
from provisioning.desktop.qemu.starting import start_domain
from provisioning.desktop.qemu.streams import open_streams
from provisioning.desktop.qemu.waking import wake
from provisioning.links.ssh import SshTarget, open_ssh
from provisioning.links.virtio import connect_virtio, open_virtio
from provisioning.machine_state import MachineState
from provisioning.protocols import READY, End, ResetReport
from provisioning.reset.phases import Phases
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from foundation.clock import Clock
    from foundation.settings import Settings
    from images.recipe import Image
    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.desktop.qemu.record import QemuRecord
    from provisioning.desktop.qemu.template import Template
    from provisioning.links.client import LinkClient
    from provisioning.links.ssh import SshSession
    from provisioning.links.virtio import SocketTransport
    from provisioning.machine_folder import MachineFolder
    from provisioning.protocols import Stream

_log = logging.getLogger(__name__)


class DesktopVm(ProbedDesktop):
    """A `provisioning.protocols.Machine`: one QEMU behind libvirt, one probe on virtio-serial.

    Args:
        settings: location of the hypervisor and the keys.
        hypervisor: the libvirtd that runs it.
        folder: the machine's folder.
        record: the machine's record.
        image: the image that it was made from.
        clock: clock used for waits and timing.
    """

    def __init__(  # composes one machine
        self,
        settings: Settings,
        hypervisor: Hypervisor,
        folder: MachineFolder,
        record: QemuRecord,
        image: Image,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        super().__init__(folder, record, clock=clock)
        self._vm = record
        self._settings = settings
        self._hypervisor = hypervisor
        self._image = image
        self._screen = VmScreen(hypervisor, record.machine_id, folder.path)
        self._console_begin = size_of(folder.path / SERIAL_LOG)
        self._monitor = InputMonitor(folder.path / INPUT_SOCKET, name=record.machine_id)

    @property
    def snapshots(self) -> VmSnapshots:
        """Return its snapshots."""
        return VmSnapshots(
            self._hypervisor,
            self.info.machine_id,
            self._folder.path,
            self,
            self.screen,
            reach=self.reach,
            clock=self._clock,
        )

    @property
    def screen(self) -> VmScreen:
        """Return its screen, captured outside the guest."""
        return self._screen

    @property
    def input(self) -> VmInput:
        """Return its input devices, driven from outside the guest."""
        return VmInput(self._monitor, self.screen, self.link, clock=self._clock)

    @property
    def backing(self) -> Path:
        """Return the image's disk, which backs the machine's own."""
        return self._image.file(DISK)

    @property
    def template(self) -> Path | None:
        """Return the folder of the template that it was forked from; None for a booted machine."""
        return self._vm.template

    @property
    def spec(self) -> DomainSpec:
        """Return how its QEMU is started."""
        template = self.template
        return DomainSpec(
            name=self.info.machine_id,
            accelerator=self.info.accelerator,
            memory_mib=self._vm.memory_mib,
            cpus=self._vm.cpus,
            folder=self._folder.path,
            kernel=self._image.file(KERNEL),
            initrd=self._image.file(INITRD),
            ssh_port=self._vm.ssh_port,
            mac=self._vm.mac,
            ram=template / RAM if template else None,
            is_incoming=template is not None,
            cpu_without=self._vm.cpu_without,
            screen=self._vm.screen,
        )

    def is_running(self) -> bool:
        """Return whether its guest is running."""
        return self._hypervisor.state(self.info.machine_id) == "running"

    def reported_end(self) -> End | None:
        """Return the end that libvirt reported since the last start or rewind; sends no request."""
        return self._hypervisor.lifecycle.end_of(self.info.machine_id)

    def ended_by(self) -> End | None:
        """Return how it ended since its last start or rewind; None if it still runs.

        Raises:
            MachineError, RequirementError: the hypervisor does not answer.
        """
        return find_end(
            self._hypervisor,
            self.info.machine_id,
            self._open,
            self.ssh,
            user=self.info.user,
            clock=self._clock,
            read_console=self._read_console,
        )

    def _read_console(self) -> str:
        """Return what the guest's kernel reports about its own end since the last start or rewind."""
        begin = self._hypervisor.lifecycle.console_of(self.info.machine_id)
        log = self._folder.path / SERIAL_LOG
        return find_report(
            log, self._console_begin if begin is None else begin, self._clock.now_s()
        )

    def cpu_time_s(self) -> float:
        """Return the CPU time that its QEMU has used, in seconds."""
        return self._hypervisor.cpu_time_s(self.info.machine_id)

    def start(self, *, cancel: CancelToken | None = None) -> None:
        """Start the machine from its snapshot ``ready``; if there is none, boot it.

        Args:
            cancel: checked once QEMU runs; to cancel a boot, also end QEMU.

        Raises:
            CancelledError: the call was cancelled.
            MachineStartError: the machine did not start in time, or is a fork that has ended.
            MesocosmError: the hypervisor does not answer.
        """
        state = self._hypervisor.state(self.info.machine_id)
        if state == "paused" and self.template is None:
            self._hypervisor.resume(self.info.machine_id)
        if state in {"running", "paused"}:
            return
        if self.template is not None:
            raise MachineStartError(
                f"{self.info.machine_id} is a fork; its state ended with it.",
                resolution="Use another fork.",
            )
        self._hypervisor.destroy(self.info.machine_id)
        self._require_backing()
        if (self._folder.path / "snapshots" / f"{READY}.json").is_file():
            self._start_saved()
        else:
            self._boot(cancel or CancelToken())

    def release(self) -> None:
        """Close the connections to it, so that another process can use it; it keeps running."""
        super().release()
        self._monitor.close()

    def stop(self) -> None:
        """Stop the machine at once; snapshots stay. Does nothing if it is not running."""
        self.release()
        self._hypervisor.destroy(self.info.machine_id)
        self._folder.mark(MachineState.STOPPED)

    def delete(self) -> None:
        """Stop the machine and remove all its files on the host; may be called more than once."""
        with suppress_logged(_log, f"stop {self.info.machine_id}", MesocosmError):
            self.stop()
        self._folder.remove()

    def ssh(self, *, timeout_s: float = 20.0) -> SshSession:
        """Log in as root.

        Raises:
            LinkError: no server answers, or one with another host key.
        """
        return open_ssh(self.ssh_target(), timeout_s=timeout_s)

    def open_proxy(self, serve: Callable[[Stream], None]) -> AbstractContextManager[None]:
        """Offer its programs an HTTP proxy for the duration of a block; see `open_guest_proxy`."""
        return open_guest_proxy(self.reach, self, serve)

    def grant_sudo(self, password: str) -> None:
        """Give the agent's user a password and sudo, until the next reset; see `rights`."""
        grant_sudo(self, self.info.user, password)

    def launch(self, *, paused: bool = False, base: Path | None = None) -> None:
        """Start its QEMU; if its forwarded port had to change, record the new one.

        Args:
            paused: whether the guest stays paused.
            base: file that its RAM is mapped from; see `provisioning.desktop.qemu.rewind_base`.

        Raises:
            MachineError: libvirt or QEMU refused, or that file cannot be read.
        """
        spec = self.spec
        if base:
            spec = replace(spec, ram=base)
        if spec.ram:
            load_into_page_cache(spec.ram)
        port = start_domain(self._hypervisor, spec, paused=paused).ssh_port
        if base:
            ignore_shared_ram(self._hypervisor, self.info.machine_id)
        if port != self._vm.ssh_port:
            kept = self._folder.read() or self._vm
            self._keep(self._vm.model_copy(update={"ssh_port": port, "state": kept.state}))

    def _keep(self, record: QemuRecord) -> None:
        self._record = self._vm = self._folder.write(record)

    @property
    def hypervisor(self) -> Hypervisor:
        """Return the hypervisor that runs it."""
        return self._hypervisor

    def start_standby(self, template: Template, *, is_rehearsed: bool = True) -> None:
        """Start a fork's QEMU, load the template's state into it and optionally rehearse its wake.

        The rehearsal is a complete wake, including verification; then the guest is stopped. It
        copies the pages that a wake writes to, and under emulation translates the code that a wake
        runs, so that the lease need not wait for either.

        Raises:
            SnapshotError: QEMU did not load the state, or the guest did not answer.
            ResetMismatchError: the fork differs from the template.
            MachineError: libvirt or QEMU refused.
        """
        self.launch(paused=True)
        address = self._folder.path / "incoming.sock"
        name = self.info.machine_id
        load_stream(self._hypervisor, name, template.devices(), address, clock=self._clock)
        if is_rehearsed:
            self._wake(template, Phases(self._clock))
            self._hypervisor.qmp(name, "stop")
            self.release()
        self._folder.mark(MachineState.WAITING)

    def wake(self, template: Template) -> ResetReport:
        """Resume the guest of a standby fork with its own identity, and verify it.

        Phases: ``resume``, ``verify`` (until the probe has answered, with clock, seed, identity).

        Raises:
            SnapshotError: the guest did not answer; it must not be used.
            ResetMismatchError: the guest differs from the template; it must not be used.
            MachineError: QEMU is gone or refused.
        """
        phases = Phases(self._clock)
        self._wake(template, phases)
        return ResetReport(path="fork", seconds=phases.total_s(), phases_s=phases.seconds)

    def _wake(self, template: Template, phases: Phases) -> None:
        name = self.info.machine_id
        with phases.part("resume"):
            before = template.saved()
            identity = new_identity(mac=self._vm.mac)
            woken = self._vm.moved_to(MachineState.STARTING)
            self._keep(woken.model_copy(update={"host_key": identity.host_key_pub}))
            link = self.reconnect()
            self._hypervisor.resume(name)
        wake(
            link,
            self.screen,
            before,
            phases,
            name=name,
            clock=self._clock,
            identity=identity.for_probe(),
        )

    def keep_state(self, folder: Path) -> None:
        """Keep its current state, RAM and disk, in a folder; see `keep_desktop`."""
        keep_desktop(self._settings, self, self._vm, folder)

    def _require_backing(self) -> None:
        """Check that the backing disk is unchanged.

        Raises:
            MachineStartError: the backing disk is gone or was altered.
        """
        if wrong := describe_change(self.backing, self._vm.backing or (0, 0)):
            raise MachineStartError(
                f"The backing disk of {self.info.machine_id} has changed.",
                details=wrong,
                resolution="Run `mesocosm image verify desktop` to check the image; `mesocosm up` "
                "rebuilds it, and makes a desktop from it.",
            )

    def _boot(self, cancel: CancelToken) -> None:
        with self._timed():
            self.launch()
            cancel.check()
            GuestBoot(self, self._clock).finish()

    def _start_saved(self) -> None:
        """Start QEMU paused, load the snapshot into it, and resume it."""
        with self._timed():
            self.launch(paused=True, base=ensure_base(self))
            try:
                self.reconnect()
                self.snapshots.restore(READY)
            except MesocosmError:
                self.stop()
                raise

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        start_s = self._clock.monotonic_s()
        yield
        seconds = self._clock.monotonic_s() - start_s
        record("boot_seconds", seconds, kind=DESKTOP)

    def ssh_target(self) -> SshTarget:
        """Return the address and keys of its SSH server."""
        public = (self._vm.host_key or self._image.file(f"{HOST_KEY}.pub").read_text()).split()
        return SshTarget(
            host=hypervisor_address(self._settings),
            port=self.spec.ssh_port,
            user="root",
            key_file=self._settings.keys_dir / "ssh_ed25519",
            host_key=" ".join(public[:2]),
        )

    def pause(self) -> None:
        """Pause the machine: an idle desktop under emulation uses a fifth of a CPU."""
        with suppress_logged(_log, f"pause {self.info.machine_id}", MesocosmError):
            self._hypervisor.qmp(self.info.machine_id, "stop")

    def reset_to(self, snapshot: str) -> ResetReport:
        """Reset a running, paused or stopped machine to a snapshot; it runs afterwards.

        The guest gets no request before the reset, as it may not answer in the state its last user
        left it in. If its QEMU cannot rewind, a new one is started.

        Raises:
            MesocosmError: the reset failed; the machine must not be used.
        """
        name = self.info.machine_id
        state = self._hypervisor.state(name)
        if state in {"running", "paused"}:
            try:
                if self._link is None or self._link.is_closed:
                    self.reconnect()
                return self.snapshots.rewind(snapshot, is_paused=state == "paused")
            except (LinkError, SnapshotError) as exc:
                if self.template is not None:
                    raise
                _log.warning("%s cannot be rewound; its QEMU is restarted: %s", name, exc)
                self.reach.suspend()
                self.close_link()
                self._hypervisor.destroy(name)
        self.start()
        return self.snapshots.rewind(snapshot)

    def reconnect(self) -> LinkClient:
        """Return a new link to its probe, which need not answer yet; `LinkClient.resync` waits for it.

        Raises:
            LinkClosedError: its QEMU is gone.
        """
        self.close_link()
        self._link = open_virtio(self.spec.probe_socket, name=self.info.machine_id)
        return self._link

    def _open_streams(self, nonce: bytes) -> SocketTransport:
        """Connect to its port for streams, and let the probe begin a session there."""
        return open_streams(self.spec.streams_socket, self.link, nonce, name=self.info.machine_id)

    def _connect(self) -> LinkClient:
        return connect_virtio(self.spec.probe_socket, name=self.info.machine_id)
