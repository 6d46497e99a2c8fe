"""Waits until a booting guest is ready to be saved."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from foundation.clock import wait_until
from foundation.errors import LinkError, LinkTimeoutError, MachineStartError
from foundation.host_load import stretched
from provisioning.links.deploy import deploy_probe
from provisioning.links.ssh import open_ssh
from provisioning.reset.digests import take_digest

if TYPE_CHECKING:
    from foundation.clock import Clock
    from provisioning.desktop.qemu.domain import DomainSpec
    from provisioning.links.client import LinkClient
    from provisioning.links.ssh import SshSession, SshTarget

_log = logging.getLogger(__name__)

# Limits are those of an idle host; a busy one stretches them.
_BOOT_TIMEOUT_S = 240.0
# The forwarded port accepts connections before the guest listens, so a stalled login is retried.
_LOGIN_TIMEOUT_S = 6.0
_DEPLOYS = 3
# Even an abandoned login later costs the guest a key exchange.
_CONSOLE_PROMPT = b"login:"
_CONSOLE_PATIENCE_S = 60.0
_SESSION_TIMEOUT_S = 240.0
# Under emulation, each check costs up to a second of the guest's own time.
_SESSION_EVERY_S = 2.0
_WARM_TIMEOUT_S = 120.0
_QUIET_TIMEOUT_S = 180.0
_QUIET_WINDOW_S = 3.0
# Share of one CPU that an idle desktop may use; under emulation, timers alone use 5-10 %.
_QUIET_SHARE = 0.25
_CONSOLE_BYTES = 1500


class BootingVm(Protocol):
    """The interface of a booting VM."""

    @property
    def spec(self) -> DomainSpec:
        """Return how its QEMU was started."""
        ...

    @property
    def link(self) -> LinkClient:
        """Return the link to its probe."""
        ...

    def is_running(self) -> bool:
        """Return whether its guest is running."""
        ...

    def ssh_target(self) -> SshTarget:
        """Return the address and keys of its SSH server."""
        ...

    def cpu_time_s(self) -> float:
        """Return the CPU time that its QEMU has used, in seconds."""
        ...


class GuestBoot:
    """One boot of a VM, from its first instruction to an idle desktop.

    Args:
        vm: a VM whose QEMU was started.
        clock: clock used for waits and timing.
    """

    def __init__(self, vm: BootingVm, clock: Clock) -> None:
        self._vm = vm
        self._clock = clock

    def finish(self) -> None:
        """Deploy the probe, and wait for the session and until the desktop is idle.

        Raises:
            MachineStartError: the guest did not start in time.
            LinkError: the probe cannot be deployed.
        """
        self._deploy()
        self._wait_for_session()
        # Start the probe's helpers once, before the snapshot, for all trials.
        self._vm.link.call("warm", timeout_s=stretched(_WARM_TIMEOUT_S))
        self._vm.link.call("trim", timeout_s=stretched(_WARM_TIMEOUT_S))
        self._wait_for_quiet()

    def _deploy(self) -> None:
        """Deploy the probe to a booting guest, which may be too busy for some of the logins."""
        for left in reversed(range(_DEPLOYS)):
            try:
                with self._wait_for_ssh() as session:
                    deploy_probe(session)
                    return
            except LinkError as exc:
                _log.info("%s: the probe is not deployed yet: %s", self._vm.spec.name, exc)
                if not left:
                    raise

    def _wait_for_console(self) -> None:
        """Wait until the guest's console shows a login prompt, for `_CONSOLE_PATIENCE_S` at most."""

        def has_prompt() -> bool:
            if not self._vm.is_running():
                raise self._failure("QEMU ended while the guest was booting.", [])
            return _CONSOLE_PROMPT in self._console()

        wait_until(has_prompt, timeout_s=_CONSOLE_PATIENCE_S, every_s=0.5, clock=self._clock)

    def _console(self) -> bytes:
        """Return the end of the guest's console output."""
        try:
            return self._vm.spec.serial_log.read_bytes()[-_CONSOLE_BYTES:]
        except OSError:
            return b""

    def _wait_for_ssh(self) -> SshSession:
        target = self._vm.ssh_target()
        reasons: list[str] = []
        self._wait_for_console()

        def try_login() -> SshSession | None:
            if not self._vm.is_running():
                raise self._failure("QEMU ended while the guest was booting.", reasons)
            try:
                return open_ssh(target, timeout_s=_LOGIN_TIMEOUT_S)
            except LinkError as exc:
                reasons.append(str(exc))
                return None

        session = wait_until(
            try_login, timeout_s=stretched(_BOOT_TIMEOUT_S), every_s=0.5, clock=self._clock
        )
        if session is None:
            raise self._failure(
                f"The guest did not answer over SSH within {_BOOT_TIMEOUT_S:g} s.", reasons
            )
        return session

    def _wait_for_session(self) -> None:
        def is_ready() -> bool:
            try:
                reply = self._vm.link.call("session", timeout_s=20.0)
            except LinkTimeoutError:  # expected while the guest boots on a busy host
                return False
            return isinstance(reply, dict) and reply.get("ready") is True

        if not wait_until(
            is_ready,
            timeout_s=stretched(_SESSION_TIMEOUT_S),
            every_s=_SESSION_EVERY_S,
            clock=self._clock,
        ):
            raise self._failure(
                f"The graphical session was not ready within {_SESSION_TIMEOUT_S:g} s.", []
            )

    def _wait_for_quiet(self) -> None:
        """Wait until the guest is idle after its boot.

        Idle means that its CPUs are idle and its state does not change within a few seconds. A
        snapshot of a guest that is still starting programs could never be verified.
        """
        if not wait_until(
            self._is_quiet, timeout_s=stretched(_QUIET_TIMEOUT_S), every_s=0.0, clock=self._clock
        ):
            before = take_digest(self._vm.link)
            self._clock.sleep(_QUIET_WINDOW_S)
            moving = "\n".join(before.differences(take_digest(self._vm.link)))
            raise self._failure(
                f"The desktop did not become idle within {_QUIET_TIMEOUT_S:g} s.", [moving]
            )

    def _is_quiet(self) -> bool:
        try:
            before = take_digest(self._vm.link)
            before_s = self._vm.cpu_time_s()
            self._clock.sleep(_QUIET_WINDOW_S)
            used_s = self._vm.cpu_time_s() - before_s
            if used_s > _QUIET_SHARE * _QUIET_WINDOW_S:
                return False
            return not before.differences(take_digest(self._vm.link))
        except LinkTimeoutError:
            return False

    def _failure(self, brief: str, reasons: list[str]) -> MachineStartError:
        path = self._vm.spec.serial_log
        console = self._console().decode(errors="replace")
        last = reasons[-1] if reasons else ""
        return MachineStartError(
            brief,
            details=f"{last}\nThe end of the guest's console ({path}):\n{console}".strip(),
            resolution="Run `mesocosm image verify desktop` to check the image, and "
            "`mesocosm doctor` to check the host.",
        )
