"""A phone as a machine: a container with an ADB port and a console.

Nothing here but `start` and `delete` knows of the container. The reference phone and Google's
emulator have the same two ports; what differs is in `provisioning.phone.profile`.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK, wait_until
from appliance.base.errors import (
    LinkError,
    MachineError,
    MachineStartError,
    MesocosmError,
    PhoneUnauthorizedError,
    UnsupportedError,
)
from appliance.base.measures import record
from images.builder import find
from provisioning.machine_state import MachineState
from provisioning.phone.adb.device import AdbDevice
from provisioning.phone.adb.input import PhoneInput, PhoneTree
from provisioning.phone.adb.link import PhoneLink
from provisioning.phone.adb.screen import PhoneScreen
from provisioning.phone.adb.server import AdbServer
from provisioning.phone.profile import profile_of
from provisioning.phone.reference.console import ConsoleClient
from provisioning.phone.reference.digest import take_phone_digest
from provisioning.phone.reference.end_state import keep_phone, load_kept
from provisioning.phone.reference.engine import LOOPBACK, PhoneContainers
from provisioning.phone.reference.snapshots import PhoneSnapshots
from provisioning.protocols import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from appliance.base.clock import Clock
    from appliance.base.process import CommandResult
    from appliance.base.settings import Settings
    from provisioning.machine_folder import MachineFolder, MachineRecord
    from provisioning.phone.profile import PhoneProfile
    from provisioning.protocols import MachineInfo, ResetReport, StateSummary

TOKEN_FILE = "console-token"  # noqa: S105 - the name of a file
_EVERY_S = 0.05


class ReferencePhone:
    """A `provisioning.protocols.Machine`.

    Whoever uses it holds the lock of its folder.

    Args:
        settings: the adb server's socket and key, and where images are.
        folder: of the machine; holds the console's token and the snapshots' digests.
        record: what it is; its backend names the sort of phone.
        profile: the sort of phone, where it is none of `phone_profile.PROFILES`.
        clock: waits and measures.
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

    @property
    def info(self) -> MachineInfo:
        """Describe the machine; its backend marks every result as got on the reference phone."""
        return self._record.info

    @property
    def folder(self) -> MachineFolder:
        """Its folder on the host."""
        return self._folder

    @property
    def power(self) -> ReferencePhone:
        """Start and stop it."""
        return self

    @property
    def device(self) -> AdbDevice:
        """The phone over ADB.

        Raises:
            MachineError: it does not run.
        """
        serial = f"{LOOPBACK}:{self._find_ports()[0]}"
        if self._device is None or self._device.serial != serial:
            self._device = AdbDevice(self._server, serial, clock=self._clock)
        return self._device

    @property
    def adb_server(self) -> AdbServer:
        """The adb server that knows the phone."""
        return self._server

    @property
    def files(self) -> AdbDevice:
        """Read and write its files."""
        return self.device

    @property
    def link(self) -> PhoneLink:
        """Talk to the probe inside, which comes up with the first call."""
        if self._link is None:
            self._link = PhoneLink(self.device, name=self.info.machine_id)
        return self._link

    @property
    def screen(self) -> PhoneScreen:
        """See it."""
        if self._screen is None:
            self._screen = PhoneScreen(self.device, clock=self._clock)
        return self._screen

    @property
    def input(self) -> PhoneInput:
        """Act on it."""
        return PhoneInput(self.device)

    @property
    def tree(self) -> PhoneTree:
        """Read its UI."""
        if self._tree is None:
            self._tree = PhoneTree(self.device, self.screen, clock=self._clock)
        return self._tree

    @property
    def snapshots(self) -> PhoneSnapshots:
        """Save and rewind it."""
        return PhoneSnapshots(
            self.info.machine_id,
            self._folder.path / "snapshots",
            self.device,
            self.console,
            profile=self._profile,
            on_rewind=self._go_back,
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
        """Run a command in the phone's shell, each word quoted; see `Commands`.

        Raises:
            UnsupportedError: it is to be another user than the shell's, or to read something.
            LinkError: the phone does not answer, or not in time.
        """
        return self.device.run(argv, user=user, timeout_s=timeout_s, input=input, cwd=cwd, env=env)

    def shell(self, command: str, timeout_s: float = 10.0) -> CommandResult:
        """Run a command line in the phone's shell; a non-zero exit code is a result.

        Raises:
            LinkTimeoutError: it did not end in time.
            LinkClosedError: the phone went away.
        """
        return self.device.shell(command, timeout_s)

    @property
    def console_port(self) -> int:
        """The loopback port of its console.

        Raises:
            MachineError: it does not run.
        """
        return self._find_ports()[1]

    def console(self) -> ConsoleClient:
        """Open a session with its console.

        Raises:
            MachineError: the machine does not run, or its token is lost.
            LinkError: the console does not answer.
        """
        try:
            token = (self._folder.path / TOKEN_FILE).read_text().strip()
        except OSError as exc:
            raise MachineError(
                f"The console token of {self.info.machine_id} is lost.", details=str(exc)
            ) from exc
        return ConsoleClient((LOOPBACK, self.console_port), token, clock=self._clock)

    def start(self) -> None:
        """Start it and return when commands can be sent.

        Raises:
            MachineStartError: it did not come up in time, or could not be fenced in.
            ImageError: the hypervisor's image, which has what fences it in, is not built.
            MesocosmError: docker or adb is missing.
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
            record("boot_seconds", seconds, kind=Kind.PHONE.value)

    def stop(self) -> None:
        """Stop it; what was saved stays. Harmless when it does not run."""
        with contextlib.suppress(MesocosmError):
            self._server.disconnect(self.device.serial)
        self.release()
        self._containers.stop(self.info.machine_id)
        self._folder.mark(MachineState.STOPPED)

    def is_running(self) -> bool:
        """Return whether its container runs."""
        return self._containers.is_running(self.info.machine_id)

    def summarize(self) -> StateSummary:
        """Return its files, settings and records, as a reset is verified by.

        Raises:
            LinkError: it does not answer.
        """
        return take_phone_digest(self.device, self._profile).summary()

    def keep_state(self, folder: Path) -> None:
        """Keep its present state in a folder; see `keep_phone`.

        Raises:
            UnsupportedError: it is an emulator, whose state stays in its container.
        """
        if not self._profile.has_volume:
            raise UnsupportedError(f"The state of {self.info.machine_id} cannot be kept.")
        keep_phone(self._folder, self._record, self.snapshots, self._containers, folder)

    def load_kept(self, folder: Path) -> ResetReport:
        """Take over the state that is kept in a folder, verified; see `load_kept`."""
        return load_kept(self._folder, self.snapshots, self._containers, folder)

    def release(self) -> None:
        """Let go of links and sockets; the phone goes on running."""
        self._close_link()
        self._ports = self._device = self._link = self._screen = self._tree = None

    def delete(self) -> None:
        """Stop it and remove all that it left on the host; harmless twice."""
        with contextlib.suppress(MesocosmError):
            self._server.disconnect(self.device.serial)
        self.release()
        with contextlib.suppress(MesocosmError):
            self._containers.remove(self.info.machine_id)
        self._folder.remove()

    def _go_back(self) -> None:
        """Let go of what a rewind is about to end."""
        self._close_link()
        for seen in (self._screen, self._tree):
            if seen is not None:
                seen.forget()

    def _close_link(self) -> None:
        if self._link is not None:
            self._link.close()

    def _find_ports(self) -> tuple[int, int]:
        """Return the ports, which change with each start of the container."""
        if self._ports is None:
            self._ports = self._containers.ports(self.info.machine_id)
        if self._ports is None:
            raise MachineError(
                f"The phone {self.info.machine_id} does not run.",
                resolution="Start it, or remove it: another one is made.",
            )
        return self._ports

    def _wait(self, deadline_s: float) -> None:
        """Wait until console and ADB answer, and say why when they do not."""
        failures: list[LinkError] = []

        def answers() -> bool:
            left_s = max(0.1, deadline_s - self._clock.monotonic_s())
            try:
                self.console().close()
                self.device.wait(left_s)
            except LinkError as exc:
                failures.append(exc)
                if isinstance(exc, PhoneUnauthorizedError) or not self.is_running():
                    raise self._not_up(exc) from exc
                return False
            return True

        left_s = deadline_s - self._clock.monotonic_s()
        if not wait_until(answers, timeout_s=left_s, every_s=_EVERY_S, clock=self._clock):
            raise self._not_up(failures[-1] if failures else None)

    def _not_up(self, cause: LinkError | None) -> MachineStartError:
        logs = self._containers.logs(self.info.machine_id)
        return MachineStartError(
            f"The phone {self.info.machine_id} did not come up.",
            details=f"{cause or ''}\n{logs}".strip(),
            resolution=cause.resolution if cause else "",
        )
