"""A phone as a machine: a container with an ADB port and a console.

The reference phone and Google's emulator have the same two ports; their differences are in
`provisioning.phone.profile`.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import (
    LinkError,
    MachineError,
    MachineStartError,
    MesocosmError,
    PhoneUnauthorizedError,
    UnsupportedError,
)
from foundation.logging import suppress_logged
from foundation.measures import record
from images.builder import find
from provisioning.machine_state import MachineState
from provisioning.phone.adb.device import AdbDevice
from provisioning.phone.adb.input import PhoneInput, PhoneTree
from provisioning.phone.adb.link import PhoneLink
from provisioning.phone.adb.reach import PhoneReach
from provisioning.phone.adb.screen import PhoneScreen
from provisioning.phone.adb.server import AdbServer
from provisioning.phone.profile import profile_of
from provisioning.phone.reference.console import ConsoleClient
from provisioning.phone.reference.digest import take_phone_digest
from provisioning.phone.reference.end_state import keep_phone, load_kept
from provisioning.phone.reference.engine import LOOPBACK, PhoneContainers
from provisioning.phone.reference.snapshots import PhoneSnapshots
from provisioning.resource import PHONE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from foundation.clock import Clock
    from foundation.process import CommandResult
    from foundation.settings import Settings
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.phone.profile import PhoneProfile
    from provisioning.protocols import MachineInfo, ResetReport, StateSummary

_log = logging.getLogger(__name__)

TOKEN_FILE = "console-token"  # noqa: S105 - the name of a file
_EVERY_S = 0.05
_CONSOLE_TIMEOUT_S = 10.0


class ReferencePhone:
    """A `provisioning.protocols.Machine`, whose user must hold its claim.

    Args:
        settings: location of the adb server's socket, its key, and images.
        folder: the machine's folder; holds the console's token and the snapshots' digests.
        record: the machine's record; its backend is the kind of phone.
        profile: the kind of phone, if it is not in `provisioning.phone.profile.PROFILES`.
        clock: clock used for waits and timing.
    """

    def __init__(
        self,
        settings: Settings,
        folder: MachineFolder,
        record: MachineRecord,
        *,
        profile: PhoneProfile | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._record = record
        self._profile = profile or profile_of(record.backend)
        self._clock = clock
        self._containers = PhoneContainers(settings.state_dir)
        self._server = AdbServer(settings, clock=clock)
        self._ports: tuple[int, int] | None = None
        self._device: AdbDevice | None = None
        self._link: PhoneLink | None = None
        self._screen: PhoneScreen | None = None
        self._tree: PhoneTree | None = None
        self._reach = PhoneReach(lambda: self.device, self._put_names)

    @property
    def info(self) -> MachineInfo:
        """Return its description, whose backend marks every result as from the reference phone."""
        return self._record.info

    @property
    def folder(self) -> MachineFolder:
        """Return its folder on the host."""
        return self._folder

    @property
    def power(self) -> ReferencePhone:
        """Return its power control."""
        return self

    @property
    def device(self) -> AdbDevice:
        """Return the phone's ADB device.

        Raises:
            MachineError: the phone is not running.
        """
        serial = f"{LOOPBACK}:{self._find_ports()[0]}"
        if self._device is None or self._device.serial != serial:
            self._device = AdbDevice(self._server, serial, clock=self._clock)
        return self._device

    @property
    def adb_server(self) -> AdbServer:
        """Return the adb server that connects to the phone."""
        return self._server

    @property
    def files(self) -> AdbDevice:
        """Return access to its files."""
        return self.device

    @property
    def link(self) -> PhoneLink:
        """Return the link to its probe, which starts with the first call."""
        if self._link is None:
            self._link = PhoneLink(self.device, name=self.info.machine_id)
        return self._link

    @property
    def screen(self) -> PhoneScreen:
        """Return its screen."""
        if self._screen is None:
            self._screen = PhoneScreen(self.device, clock=self._clock)
        return self._screen

    @property
    def input(self) -> PhoneInput:
        """Return its input devices."""
        return PhoneInput(self.device, self.screen)

    @property
    def tree(self) -> PhoneTree:
        """Return its accessibility tree."""
        if self._tree is None:
            self._tree = PhoneTree(self.device, self.screen, clock=self._clock)
        return self._tree

    @property
    def reach(self) -> PhoneReach:
        """Return which services it reaches."""
        return self._reach

    @property
    def snapshots(self) -> PhoneSnapshots:
        """Return its snapshots."""
        return PhoneSnapshots(
            self.info.machine_id,
            self._folder.path / "snapshots",
            self.device,
            self.console,
            profile=self._profile,
            around_rewind=self._around_rewind,
            clock=self._clock,
        )

    def run(
        self,
        argv: Sequence[str],
        *,
        user: str | None = None,
        timeout_s: float = 10.0,
        input: bytes = b"",  # noqa: A002 - as the protocol calls it
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command in the phone's shell, with each argument quoted; see `Commands`.

        Raises:
            UnsupportedError: another user than the shell's, or input, is requested.
            LinkError: the phone does not answer, or not in time.
        """
        return self.device.run(argv, user=user, timeout_s=timeout_s, input=input, cwd=cwd, env=env)

    def shell(self, command: str, timeout_s: float = 10.0) -> CommandResult:
        """Run a command line in the phone's shell; a non-zero exit code is a result.

        Raises:
            LinkTimeoutError: the command did not end in time.
            LinkClosedError: the phone closed the connection.
        """
        return self.device.shell(command, timeout_s)

    @property
    def console_port(self) -> int:
        """Return the loopback port of its console.

        Raises:
            MachineError: the phone is not running.
        """
        return self._find_ports()[1]

    def console(self) -> ConsoleClient:
        """Open a session with its console.

        Raises:
            MachineError: the machine is not running, or its token is missing.
            LinkError: the console does not answer.
        """
        try:
            token = (self._folder.path / TOKEN_FILE).read_text().strip()
        except OSError as exc:
            raise MachineError(
                f"The console token of {self.info.machine_id} is missing.", details=str(exc)
            ) from exc
        return ConsoleClient((LOOPBACK, self.console_port), token, clock=self._clock)

    def start(self) -> None:
        """Start the phone and return when commands can be sent.

        Raises:
            MachineStartError: the phone did not start in time, or its connections could not be blocked.
            ImageError: the hypervisor's image, which has iptables, is not built.
            MesocosmError: Docker or adb is missing.
        """
        start_s = self._clock.monotonic_s()
        ports = self._containers.ports(self.info.machine_id)
        was_running = ports is not None
        if was_running:
            self._ports = ports
        else:
            self.release()
            fence_image = find("hypervisor", self._settings).tag or ""
            self._containers.start(self.info.machine_id, fence_image)
        self._wait(start_s + self._profile.start_timeout_s)
        if not was_running:
            seconds = self._clock.monotonic_s() - start_s
            record("boot_seconds", seconds, kind=PHONE)

    def stop(self) -> None:
        """Stop the phone; snapshots stay. Does nothing if it is not running."""
        with suppress_logged(_log, f"disconnect {self.info.machine_id}", MesocosmError):
            self._server.disconnect(self.device.serial)
        self.release()
        self._containers.stop(self.info.machine_id, self._profile.stop_timeout_s)
        self._folder.mark(MachineState.STOPPED)

    def is_running(self) -> bool:
        """Return whether its container is running."""
        return self._containers.is_running(self.info.machine_id)

    def summarize(self) -> StateSummary:
        """Return fingerprints of its files, settings and records, as used to verify a reset.

        Raises:
            LinkError: the phone does not answer.
        """
        return take_phone_digest(self.device, self._profile).summary()

    def keep_state(self, folder: Path) -> None:
        """Keep its current state in a folder; see `keep_phone`.

        Raises:
            UnsupportedError: it is an emulator, whose state cannot leave its container.
        """
        if not self._profile.keeps_end_states:
            raise UnsupportedError(f"The state of {self.info.machine_id} cannot be kept.")
        keep_phone(self._folder, self._record, self.snapshots, self._containers, folder)

    def load_kept(self, folder: Path) -> ResetReport:
        """Restore and verify the state kept in a folder; see `end_state.load_kept`."""
        return load_kept(self._folder, self.snapshots, self._containers, folder)

    def release(self) -> None:
        """Close links and sockets; the phone keeps running."""
        self._reach.close()
        self._close_link()
        self._ports = self._device = self._link = self._screen = self._tree = None

    def delete(self) -> None:
        """Stop it and remove all its files on the host; may be called more than once."""
        with suppress_logged(_log, f"disconnect {self.info.machine_id}", MesocosmError):
            self._server.disconnect(self.device.serial)
        self.release()
        with suppress_logged(_log, f"remove {self.info.machine_id}", MesocosmError):
            self._containers.remove(self.info.machine_id)
        self._folder.remove()

    @contextlib.contextmanager
    def _around_rewind(self) -> Iterator[None]:
        """Close the link, which a rewind ends, and clear caches; then reach services again."""
        self._close_link()
        for cached in (self._screen, self._tree):
            if cached is not None:
                cached.forget()
        yield
        self._reach.resume()

    def _put_names(self, names: Collection[str]) -> None:
        """Let its browser look up names.

        Raises:
            UnsupportedError: the kind of phone has no way to do it.
            LinkError: the console does not answer, or refused.
        """
        if not self._profile.has_names:
            if names:
                raise UnsupportedError(
                    f"{self.info.machine_id} cannot look up names of services.",
                    details="Android's emulator has no hosts file that can be written.",
                    resolution="Use the reference phone: MESOCOSM_PHONE=reference.",
                )
            return
        with self.console() as console:
            console.run(f"names {' '.join(names)}".strip(), timeout_s=_CONSOLE_TIMEOUT_S)

    def _close_link(self) -> None:
        if self._link is not None:
            self._link.close()

    def _find_ports(self) -> tuple[int, int]:
        """Return the ports, which change with each start of the container."""
        if self._ports is None:
            self._ports = self._containers.ports(self.info.machine_id)
        if self._ports is None:
            raise MachineError(
                f"The phone {self.info.machine_id} is not running.",
                resolution="Start it, or remove it: another one is then made.",
            )
        return self._ports

    def _wait(self, deadline_s: float) -> None:
        """Wait until console and ADB answer; raise MachineStartError with the cause if they do not."""
        failures: list[LinkError] = []

        def answers() -> bool:
            left_s = max(0.1, deadline_s - self._clock.monotonic_s())
            try:
                self.console().close()
                self.device.wait(left_s)
            except LinkError as exc:
                failures.append(exc)
                if isinstance(exc, PhoneUnauthorizedError) or not self.is_running():
                    raise self._start_error(exc) from exc
                return False
            return True

        left_s = deadline_s - self._clock.monotonic_s()
        if not wait_until(answers, timeout_s=left_s, every_s=_EVERY_S, clock=self._clock):
            raise self._start_error(failures[-1] if failures else None)

    def _start_error(self, cause: LinkError | None) -> MachineStartError:
        logs = self._containers.logs(self.info.machine_id)
        return MachineStartError(
            f"The phone {self.info.machine_id} did not start.",
            details=f"{cause or ''}\n{logs}".strip(),
            resolution=cause.resolution if cause else "",
        )
