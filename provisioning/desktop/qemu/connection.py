"""Talk to libvirtd; its errors become ours here and nowhere else."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from typing import TYPE_CHECKING, Any

import libvirt
import libvirt_qemu

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import MachineError, RequirementError
from provisioning.desktop.qemu.lifecycle import Lifecycle, start_event_loop

if TYPE_CHECKING:
    from collections.abc import Iterator

_log = logging.getLogger(__name__)

_LOGGED_CHARS = 500
_STATES = {
    libvirt.VIR_DOMAIN_RUNNING: "running",
    libvirt.VIR_DOMAIN_PAUSED: "paused",
    libvirt.VIR_DOMAIN_CRASHED: "crashed",
    libvirt.VIR_DOMAIN_SHUTOFF: "stopped",
}
_RESTART_S = 15.0
_RETRY_S = 0.1
_CURE = "`mesocosm up` starts the hypervisor; `mesocosm doctor` says what is in its way."


class Hypervisor:
    """One libvirtd, reached when first needed and again after it was restarted.

    Args:
        uri: libvirt's address of it.

    Attributes:
        has_io_uring: False once its QEMU was refused io_uring.
        lifecycle: how its domains ended while it was connected.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.has_io_uring = True
        self.lifecycle = Lifecycle()
        self._lock = threading.Lock()
        self._connection: libvirt.virConnect | None = None
        # libvirt prints every error to standard error unless somebody takes them.
        libvirt.registerErrorHandler(lambda _context, _error: None, None)

    def version(self) -> dict[str, str]:
        """Return the versions of libvirt and QEMU.

        Raises:
            RequirementError: libvirtd does not answer.
        """
        connection = self._connect()
        with _ours("The hypervisor does not tell its version."):
            return {
                "libvirt": _dotted(connection.getLibVersion()),
                "qemu": _dotted(connection.getVersion()),
            }

    def require(self) -> None:
        """Make sure that libvirtd answers; one that was restarted is reached anew.

        Raises:
            RequirementError: it does not.
        """
        with self._lock:
            if self._connection is None:
                self._connection = self._open()
            elif not _answers(self._connection):
                self._connection = self._reopen()

    def create(self, xml: str, *, paused: bool = False) -> None:
        """Make a transient domain and start it.

        Raises:
            MachineError: libvirt or QEMU refused.
        """
        flags = libvirt.VIR_DOMAIN_START_PAUSED if paused else 0
        with _ours("The virtual machine could not be started."):
            self._connect().createXML(xml, flags)

    def state(self, name: str) -> str:
        """Return ``running``, ``paused``, ``crashed`` or ``stopped`` (also when unknown).

        Raises:
            RequirementError: libvirtd does not answer.
            MachineError: libvirt does not tell.
        """
        domain = self._find(name)
        if domain is None:
            return "stopped"
        with _ours(f"libvirt does not tell the state of {name}."):
            try:
                state, _reason = domain.state()
            except libvirt.libvirtError as exc:
                if exc.get_error_code() == libvirt.VIR_ERR_NO_DOMAIN:
                    return "stopped"
                raise
        return _STATES.get(state, "running")

    def names(self) -> list[str]:
        """Return the names of all domains that run.

        Raises:
            RequirementError: libvirtd does not answer.
        """
        connection = self._connect()
        with _ours("The virtual machines could not be listed."):
            return sorted(domain.name() for domain in connection.listAllDomains())

    def destroy(self, name: str) -> None:
        """End a domain at once; harmless when there is none."""
        domain = self._find(name)
        if domain is not None:
            with contextlib.suppress(libvirt.libvirtError):
                domain.destroy()

    def resume(self, name: str) -> None:
        """Let a paused domain run.

        Raises:
            MachineError: it cannot.
        """
        with _ours(f"The virtual machine {name} could not be resumed."):
            self._connect().lookupByName(name).resume()

    def cpu_time_s(self, name: str) -> float:
        """Return the seconds of processor time that a domain has used.

        Raises:
            MachineError: there is no such domain.
        """
        with _ours(f"The virtual machine {name} could not be asked for its processor time."):
            return float(self._connect().lookupByName(name).info()[4]) / 1e9

    def qmp(self, name: str, command: str, arguments: dict[str, Any] | None = None) -> Any:  # noqa: ANN401  # QMP's JSON
        """Run a command of QEMU's machine protocol and give what it returns.

        Raises:
            MachineError: QEMU refused, or is gone.
        """
        request = json.dumps({"execute": command, "arguments": arguments or {}})
        with _ours(f"QEMU of {name} did not carry out {command}."):
            domain = self._connect().lookupByName(name)
            text = libvirt_qemu.qemuMonitorCommand(domain, request, 0)
        _log.debug("QMP %s: %.*s -> %.*s", name, _LOGGED_CHARS, request, _LOGGED_CHARS, text)
        reply = json.loads(text)
        if "error" in reply:
            description = reply["error"].get("desc", "")
            raise MachineError(f"QEMU of {name} refused {command}.", details=description)
        return reply["return"]

    def monitor(self, name: str, line: str) -> str:
        """Run a line of QEMU's human monitor and give its words; empty mostly means success.

        Raises:
            MachineError: QEMU is gone.
        """
        flags = libvirt_qemu.VIR_DOMAIN_QEMU_MONITOR_COMMAND_HMP
        with _ours(f"QEMU of {name} did not carry out {line!r}."):
            domain = self._connect().lookupByName(name)
            output = str(libvirt_qemu.qemuMonitorCommand(domain, line, flags)).strip()
        _log.debug("HMP %s: %s -> %.*s", name, line, _LOGGED_CHARS, output)
        return output

    def checkpoint(self, name: str, checkpoint: str) -> None:
        """Let libvirt itself save the running state; `revert` goes back to it.

        Raises:
            MachineError: libvirt refused.
        """
        with _ours(f"libvirt could not save {name}."):
            domain = self._connect().lookupByName(name)
            domain.snapshotCreateXML(f"<domainsnapshot><name>{checkpoint}</name></domainsnapshot>")

    def revert(self, name: str, checkpoint: str) -> None:
        """Let libvirt itself go back, which starts QEMU anew; the alternative to `loadvm`.

        Raises:
            MachineError: libvirt refused.
        """
        with _ours(f"libvirt could not revert {name}."):
            domain = self._connect().lookupByName(name)
            domain.revertToSnapshot(domain.snapshotLookupByName(checkpoint))

    def close(self) -> None:
        """Let the connection go; harmless twice."""
        with self._lock:
            if self._connection is not None:
                self.lifecycle.unwatch()
                with contextlib.suppress(libvirt.libvirtError):
                    self._connection.close()
                self._connection = None

    def _find(self, name: str) -> libvirt.virDomain | None:
        connection = self._connect()
        with _ours(f"libvirt does not say whether there is a {name}."):
            try:
                return connection.lookupByName(name)
            except libvirt.libvirtError as exc:
                if exc.get_error_code() == libvirt.VIR_ERR_NO_DOMAIN:
                    return None
                raise

    def _connect(self) -> libvirt.virConnect:
        """Return a connection that stands, as far as is known without asking.

        Where it has ended, libvirtd was restarted, which takes a moment and ends no guest.
        """
        with self._lock:
            if self._connection is None:
                self._connection = self._open()
            elif not _is_alive(self._connection):
                self._connection = self._reopen()
            return self._connection

    def _open(self) -> libvirt.virConnect:
        start_event_loop()
        try:
            connection = libvirt.open(self.uri)
            self.lifecycle.watch(connection)
        except libvirt.libvirtError as exc:
            raise _silent(exc) from exc
        return connection

    def _reopen(self) -> libvirt.virConnect:
        self._connection = None
        end_s = SYSTEM_CLOCK.monotonic_s() + _RESTART_S
        while True:
            try:
                return self._open()
            except RequirementError:
                if SYSTEM_CLOCK.monotonic_s() > end_s:
                    raise
                SYSTEM_CLOCK.sleep(_RETRY_S)


def _answers(connection: libvirt.virConnect) -> bool:
    try:
        connection.getLibVersion()
    except libvirt.libvirtError:
        return False
    return True


def _is_alive(connection: libvirt.virConnect) -> bool:
    """Return whether the socket to libvirtd stands; the event loop sees its end."""
    try:
        return bool(connection.isAlive())
    except libvirt.libvirtError:
        return False


@contextlib.contextmanager
def _ours(brief: str) -> Iterator[None]:
    """Map libvirt's errors.

    Raises:
        RequirementError: the connection to libvirtd broke.
        MachineError: libvirt refused.
    """
    try:
        yield
    except libvirt.libvirtError as exc:
        if exc.get_error_domain() == libvirt.VIR_FROM_RPC:  # the connection, not the machine
            raise _silent(exc) from exc
        raise MachineError(brief, details=str(exc), resolution=_CURE) from exc


def _silent(exc: libvirt.libvirtError) -> RequirementError:
    return RequirementError("The hypervisor does not answer.", details=str(exc), resolution=_CURE)


def _dotted(number: int) -> str:
    return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"
