"""The connection to libvirtd; maps its errors to this project's."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from typing import TYPE_CHECKING, Any

import libvirt
import libvirt_qemu

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MachineError, RequirementError
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
_RESOLUTION = (
    "Run `mesocosm up` to start the hypervisor; if it does not start, `mesocosm doctor` shows why."
)


class Hypervisor:
    """One libvirtd; connects when first needed and reconnects after a restart of libvirtd.

    Args:
        uri: its libvirt URI.

    Attributes:
        has_io_uring: False once its QEMU has been denied io_uring.
        lifecycle: records how its domains ended while it was connected.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.has_io_uring = True
        self.lifecycle = Lifecycle()
        self._lock = threading.Lock()
        self._connection: libvirt.virConnect | None = None
        # Without a handler, libvirt prints every error to standard error.
        libvirt.registerErrorHandler(lambda _context, _error: None, None)

    def version(self) -> dict[str, str]:
        """Return the versions of libvirt and QEMU.

        Raises:
            RequirementError: libvirtd does not answer.
        """
        connection = self._connect()
        with _mapped_errors("The hypervisor did not report its version."):
            return {
                "libvirt": _dotted(connection.getLibVersion()),
                "qemu": _dotted(connection.getVersion()),
            }

    def require(self) -> None:
        """Check that libvirtd answers; reconnects if it was restarted.

        Raises:
            RequirementError: libvirtd does not answer.
        """
        with self._lock:
            if self._connection is None:
                self._connection = self._open()
            elif not _answers(self._connection):
                self._connection = self._reopen()

    def create(self, xml: str, *, paused: bool = False) -> None:
        """Create a transient domain and start it.

        Raises:
            MachineError: libvirt or QEMU refused.
        """
        flags = libvirt.VIR_DOMAIN_START_PAUSED if paused else 0
        with _mapped_errors("The virtual machine could not be started."):
            self._connect().createXML(xml, flags)

    def state(self, name: str) -> str:
        """Return ``running``, ``paused``, ``crashed`` or ``stopped`` (also when unknown).

        Raises:
            RequirementError: libvirtd does not answer.
            MachineError: libvirt did not report the state.
        """
        domain = self._find(name)
        if domain is None:
            return "stopped"
        with _mapped_errors(f"libvirt did not report the state of {name}."):
            try:
                state, _reason = domain.state()
            except libvirt.libvirtError as exc:
                if exc.get_error_code() == libvirt.VIR_ERR_NO_DOMAIN:
                    return "stopped"
                raise
        return _STATES.get(state, "running")

    def names(self) -> list[str]:
        """Return the names of all running domains.

        Raises:
            RequirementError: libvirtd does not answer.
        """
        connection = self._connect()
        with _mapped_errors("The virtual machines could not be listed."):
            return sorted(domain.name() for domain in connection.listAllDomains())

    def destroy(self, name: str) -> None:
        """End a domain at once; does nothing if it does not exist."""
        domain = self._find(name)
        if domain is not None:
            with contextlib.suppress(libvirt.libvirtError):
                domain.destroy()

    def resume(self, name: str) -> None:
        """Resume a paused domain.

        Raises:
            MachineError: the domain cannot be resumed.
        """
        with _mapped_errors(f"The virtual machine {name} could not be resumed."):
            self._connect().lookupByName(name).resume()

    def cpu_time_s(self, name: str) -> float:
        """Return the CPU time that a domain has used, in seconds.

        Raises:
            MachineError: the domain does not exist.
        """
        with _mapped_errors(f"The CPU time of the virtual machine {name} could not be read."):
            return float(self._connect().lookupByName(name).info()[4]) / 1e9

    def qmp(self, name: str, command: str, arguments: dict[str, Any] | None = None) -> Any:  # noqa: ANN401  # QMP's JSON
        """Run a QMP command and return its result.

        Raises:
            MachineError: QEMU refused, or is gone.
        """
        request = json.dumps({"execute": command, "arguments": arguments or {}})
        with _mapped_errors(f"QEMU of {name} did not carry out {command}."):
            domain = self._connect().lookupByName(name)
            text = libvirt_qemu.qemuMonitorCommand(domain, request, 0)
        _log.debug("QMP %s: %.*s -> %.*s", name, _LOGGED_CHARS, request, _LOGGED_CHARS, text)
        reply = json.loads(text)
        if "error" in reply:
            description = reply["error"].get("desc", "")
            raise MachineError(f"QEMU of {name} refused {command}.", details=description)
        return reply["return"]

    def monitor(self, name: str, line: str) -> str:
        """Run a command of QEMU's human monitor and return its output; empty mostly means success.

        Raises:
            MachineError: QEMU is gone.
        """
        flags = libvirt_qemu.VIR_DOMAIN_QEMU_MONITOR_COMMAND_HMP
        with _mapped_errors(f"QEMU of {name} did not carry out {line!r}."):
            domain = self._connect().lookupByName(name)
            output = str(libvirt_qemu.qemuMonitorCommand(domain, line, flags)).strip()
        _log.debug("HMP %s: %s -> %.*s", name, line, _LOGGED_CHARS, output)
        return output

    def checkpoint(self, name: str, checkpoint: str) -> None:
        """Save the running state as a libvirt snapshot, which `revert` restores.

        Raises:
            MachineError: libvirt refused.
        """
        with _mapped_errors(f"libvirt could not save {name}."):
            domain = self._connect().lookupByName(name)
            domain.snapshotCreateXML(f"<domainsnapshot><name>{checkpoint}</name></domainsnapshot>")

    def revert(self, name: str, checkpoint: str) -> None:
        """Revert to a libvirt snapshot, which restarts QEMU; the alternative to `loadvm`.

        Raises:
            MachineError: libvirt refused.
        """
        with _mapped_errors(f"libvirt could not revert {name}."):
            domain = self._connect().lookupByName(name)
            domain.revertToSnapshot(domain.snapshotLookupByName(checkpoint))

    def close(self) -> None:
        """Close the connection; may be called more than once."""
        with self._lock:
            if self._connection is not None:
                self.lifecycle.unsubscribe()
                with contextlib.suppress(libvirt.libvirtError):
                    self._connection.close()
                self._connection = None

    def _find(self, name: str) -> libvirt.virDomain | None:
        connection = self._connect()
        with _mapped_errors(f"libvirt did not report whether {name} exists."):
            try:
                return connection.lookupByName(name)
            except libvirt.libvirtError as exc:
                if exc.get_error_code() == libvirt.VIR_ERR_NO_DOMAIN:
                    return None
                raise

    def _connect(self) -> libvirt.virConnect:
        """Return a connection that is open, as far as is known without a request.

        A closed connection means that libvirtd was restarted, which is quick and ends no guest.
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
            raise _not_answering(exc) from exc
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
    """Return whether the socket to libvirtd is open; the event loop notices when it closes."""
    try:
        return bool(connection.isAlive())
    except libvirt.libvirtError:
        return False


@contextlib.contextmanager
def _mapped_errors(brief: str) -> Iterator[None]:
    """Map libvirt's errors to this project's.

    Raises:
        RequirementError: the connection to libvirtd broke.
        MachineError: libvirt refused.
    """
    try:
        yield
    except libvirt.libvirtError as exc:
        if exc.get_error_domain() == libvirt.VIR_FROM_RPC:  # the connection, not the machine
            raise _not_answering(exc) from exc
        raise MachineError(brief, details=str(exc), resolution=_RESOLUTION) from exc


def _not_answering(exc: libvirt.libvirtError) -> RequirementError:
    return RequirementError(
        "The hypervisor does not answer.", details=str(exc), resolution=_RESOLUTION
    )


def _dotted(number: int) -> str:
    return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"
