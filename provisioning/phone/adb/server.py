"""The appliance's own adb server: a private socket, its own key, and timeouts on every wait."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from adbutils import AdbError, AdbTimeout

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import (
    GuestCallError,
    LinkClosedError,
    LinkError,
    LinkProtocolError,
    LinkTimeoutError,
    PhoneOfflineError,
    PhoneUnauthorizedError,
)
from foundation.files import FileLock
from foundation.logging import suppress_logged
from foundation.process import run
from provisioning.phone.adb.endpoint import ServerConnection, UnixEndpoint

if TYPE_CHECKING:
    import socket

    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.phone.adb.endpoint import Endpoint

_log = logging.getLogger(__name__)

_KEY = "adbkey"
_START_TIMEOUT_S = 15.0
_ASK_TIMEOUT_S = 5.0
# adb's states of phones that are present and may answer later.
_NOT_YET = ("offline", "connecting", "authorizing")


class AdbServer:
    """The adb server of one appliance.

    It listens on a Unix socket that no other user of the host can access, since access to an adb
    server gives access to every phone that it is connected to.

    Args:
        settings: locations of the socket and of the key.
        endpoint: endpoint of another adb server, such as the user's; by default, the appliance's.
        clock: clock used for waits.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        endpoint: Endpoint | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self.endpoint = endpoint or UnixEndpoint(settings.adb_socket)

    def public_key(self) -> str:
        """Return the public key line that phones must accept; create the key if it is missing.

        Raises:
            ToolMissingError: adb is not installed.
            ToolFailedError: adb failed to create a key.
        """
        key = self._settings.keys_dir / _KEY
        lock = FileLock(self._settings.keys_dir / f"{_KEY}.lock")
        lock.acquire()
        try:
            if not key.with_suffix(".pub").is_file():
                # adb also creates a key below HOME; this keeps the user's own files untouched.
                env = {"HOME": str(self._settings.keys_dir)}
                run(["adb", "keygen", str(key)], timeout_s=_START_TIMEOUT_S, env=env).require()
                key.chmod(0o600)
        finally:
            lock.release()
        return key.with_suffix(".pub").read_text().strip()

    def start(self) -> None:
        """Start the server unless it is running.

        Raises:
            ToolMissingError: adb is not installed.
            RequirementError: the path of the socket is too long.
        """
        if self.is_running():
            return
        self.public_key()
        run_dir = self._settings.run_dir
        run_dir.mkdir(parents=True, exist_ok=True)
        lock = FileLock(run_dir / "adb-server.lock")
        lock.acquire()
        try:
            if not self.is_running():
                self._start()
        finally:
            lock.release()

    def stop(self) -> None:
        """Stop the server; does nothing if it is not running."""
        if not self.is_running():
            return
        with contextlib.suppress(AdbError, AdbTimeout, OSError), self._connection(2.0) as link:
            link.send_command("host:kill")
            link.check_okay()
        wait_until(
            lambda: not self.is_running(), timeout_s=_ASK_TIMEOUT_S, every_s=0.05, clock=self._clock
        )
        self.endpoint.remove()

    def is_running(self) -> bool:
        """Return whether an adb server answers."""
        try:
            with self._connection(_ASK_TIMEOUT_S) as link:
                link.send_command("host:version")
                link.check_okay()
                return bool(link.read_string_block())
        except (AdbError, AdbTimeout, OSError, ValueError):
            return False

    def state(self, serial: str) -> str:
        """Return adb's state of a phone: ``device``, ``offline``, ``unauthorized``; empty if unknown.

        Raises:
            LinkError: the server does not answer.
        """
        return self.states().get(serial, "")

    def states(self) -> dict[str, str]:
        """Return adb's state of each phone that it knows, by serial.

        Raises:
            LinkError: the server does not answer.
        """
        rows = self._ask("host:devices").splitlines()
        return dict(row.split("\t", 1) for row in rows if "\t" in row)

    def connect(self, serial: str, *, timeout_s: float) -> None:
        """Connect the server to a phone and wait until commands can be sent.

        Args:
            serial: ``HOST:PORT``, or the serial number of a phone connected by cable.
            timeout_s: total time limit.

        Raises:
            PhoneUnauthorizedError: the phone refuses the key.
            PhoneOfflineError: the phone stayed offline.
            LinkClosedError: no server listens there, or no such phone is connected by cable.
        """
        _log.debug("connecting to the phone at %s", serial)
        if self._is_connected(serial):
            return
        self.start()
        deadline_s = self._clock.monotonic_s() + timeout_s
        answer = state = ""
        while (left_s := deadline_s - self._clock.monotonic_s()) > 0:
            state = self.state(serial)
            if state == "device":
                return
            if state == "unauthorized":
                raise _unauthorized(serial)
            if state == "offline":
                # The connection broke; the server drops it only on request.
                self._ask(f"host:disconnect:{serial}")
            if ":" in serial:
                answer = self._ask_to_connect(serial, left_s, answer)
            if self.state(serial) not in {"device", "unauthorized"}:
                self._clock.sleep(min(0.1, left_s))
        if state in _NOT_YET:
            raise PhoneOfflineError(
                f"The phone {serial} is {state}: it is present but does not answer over ADB.",
                details=answer,
                resolution="It may have stopped responding. Check its log, or `docker logs` of its "
                "container.",
            )
        if ":" not in serial:
            raise LinkClosedError(
                f"adb does not know a phone {serial}.",
                details=f"Known phones: {', '.join(self.states()) or 'none'}.",
                resolution="Check that it is connected to this host by cable, with USB debugging on.",
            )
        raise LinkClosedError(f"adb cannot connect to {serial}.", details=answer)

    def _is_connected(self, serial: str) -> bool:
        """Return whether the server is running and the phone accepts commands, in one round trip."""
        try:
            return self.state(serial) == "device"
        except LinkClosedError:
            return False

    def _ask_to_connect(self, serial: str, left_s: float, last_answer: str) -> str:
        """Return the server's answer, or its previous one if no time is left."""
        try:
            return self._ask(f"host:connect:{serial}", timeout_s=left_s)
        except LinkTimeoutError:
            if not last_answer:
                raise
            return last_answer

    def disconnect(self, serial: str) -> None:
        """Disconnect the server from a phone; does nothing if it is not running or connected."""
        if self.is_running():
            with suppress_logged(_log, f"disconnect {serial}", LinkError):
                self._ask(f"host:disconnect:{serial}")

    def open(self, serial: str, service: str, *, timeout_s: float) -> socket.socket:
        """Open a service of a phone, such as ``sync:`` or ``shell,v2,raw:ls``.

        Args:
            serial: serial of a connected phone.
            service: name of the service.
            timeout_s: time limit of the request, and initial timeout of the returned socket.

        Raises:
            PhoneUnauthorizedError: the phone refuses the key.
            PhoneOfflineError: the phone is offline, or the server is not connected to it.
            GuestCallError: the phone has no such service.
            LinkClosedError: the adb server does not answer.
            LinkTimeoutError: no reply in time.
        """
        _log.debug("adb %s: %s", serial, service)
        try:
            link = self._connection(timeout_s)
        except OSError as exc:
            raise LinkClosedError("The adb server does not answer.", details=str(exc)) from exc
        try:
            for request in (f"host:transport:{serial}", service):
                link.send_command(request)
                link.check_okay()
        except (AdbTimeout, TimeoutError) as exc:
            link.conn.close()
            raise LinkTimeoutError(
                f"The phone {serial} did not open {service[:40]!r} within {timeout_s:g} s."
            ) from exc
        except (AdbError, OSError, ValueError) as exc:
            link.conn.close()
            raise _refused(serial, service, str(exc)) from exc
        stream: socket.socket = link.conn
        return stream

    def _connection(self, timeout_s: float) -> ServerConnection:
        """Connect to the server.

        Raises:
            OSError: no server listens.
        """
        sock = self.endpoint.connect(min(timeout_s, _ASK_TIMEOUT_S))
        sock.settimeout(timeout_s)
        return ServerConnection(sock)

    def _ask(self, request: str, *, timeout_s: float = _ASK_TIMEOUT_S) -> str:
        _log.debug("adb: %s", request)
        try:
            with self._connection(timeout_s) as link:
                link.send_command(request)
                link.check_okay()
                return str(link.read_string_block())
        except (AdbTimeout, TimeoutError) as exc:
            raise LinkTimeoutError(
                f"The adb server did not answer {request!r} within {timeout_s:g} s."
            ) from exc
        except AdbError as exc:
            return str(exc)
        except OSError as exc:
            raise LinkClosedError("The adb server does not answer.", details=str(exc)) from exc

    def _start(self) -> None:
        self.endpoint.prepare()
        env = {
            "HOME": str(self._settings.keys_dir),
            "ADB_VENDOR_KEYS": str(self._settings.keys_dir / _KEY),
            # The folder of the server's log.
            "TMPDIR": str(self._settings.run_dir),
            # Disable discovery: the server only has the phones that it is told to connect to.
            "ADB_LOCAL_TRANSPORT_MAX_PORT": "5554",
            "ADB_MDNS": "0",
        }
        run(
            ["adb", "-L", self.endpoint.spec, "start-server"], timeout_s=_START_TIMEOUT_S, env=env
        ).require("Run `mesocosm doctor` to check adb.")


def _unauthorized(serial: str) -> PhoneUnauthorizedError:
    return PhoneUnauthorizedError(
        f"The phone {serial} refuses this appliance's ADB key (unauthorized).",
        details="It was made with another key, or its user has not allowed this key.",
        resolution=(
            "Allow the key on the phone's screen. If it is a phone of the appliance, remove it; "
            "the next one is made with the current key."
        ),
    )


def _refused(serial: str, service: str, message: str) -> LinkError:
    if "unauthorized" in message:
        return _unauthorized(serial)
    if any(state in message for state in (*_NOT_YET, "not found")):
        return PhoneOfflineError(f"The phone {serial} is offline.", details=message)
    if message == "closed":
        return GuestCallError(f"The phone {serial} has no service {service[:40]!r}.")
    return LinkProtocolError(f"adb did not open {service[:40]!r} on {serial}.", details=message)
