"""The console: the part of the Android emulator's protocol that this phone needs.

Source: AOSP ``external/qemu/android/console.c``; each command is a line, each answer ends in
``OK`` or begins with ``KO:``.
"""

from __future__ import annotations

import contextlib
import hmac
import socket
from typing import TYPE_CHECKING

from images.phone.device.console_commands import ConsoleCommands, RefusedError
from images.phone.device.listener import Listener
from images.phone.device.store.snapshots import SnapshotRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.config import DeviceConfig
    from images.phone.device.machine import PhoneMachine
    from images.phone.device.phone import Phone

MAX_CONNECTIONS = 16
_MAX_LINE_BYTES = 4096
_IDLE_TIMEOUT_S = 600.0
_BANNER = "Android Console: Authentication required\nAndroid Console: type 'auth <auth_token>' to authenticate\n"
_HELP = """Android console command help:

    help|h|?         print a list of commands
    avd              control virtual device execution
    event            simulate hardware events
    geo              Geo-location commands
    gsm              GSM related commands
    kill             terminate the phone
    names            names of services that ports of the phone lead to
    ping             check if the phone is alive
    power            power related commands
    quit|exit        quit control session
    rotate           rotate the screen by 90 degrees
    sms              SMS related commands
"""


class ConsoleServer:
    """Serve console sessions.

    Args:
        config: port, token and name.
        machine: the phone as a whole.
        phone: state of the phone.
    """

    def __init__(self, config: DeviceConfig, machine: PhoneMachine, phone: Phone) -> None:
        self._config = config
        self._machine = machine
        self._phone = phone
        self._listener = Listener(
            config.address,
            config.console_port,
            self._serve,
            max_connections=MAX_CONNECTIONS,
            name="console",
        )
        self.port = self._listener.port

    def start(self) -> None:
        """Start accepting sessions."""
        self._listener.start()

    def stop(self) -> None:
        """Stop accepting connections."""
        self._listener.stop()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError, UnicodeError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(_IDLE_TIMEOUT_S)
            ConsoleSession(self._config, self._machine, self._phone, sock).run()


class ConsoleSession:
    """One session.

    Args:
        config: token and name.
        machine: the phone as a whole.
        phone: state of the phone.
        sock: connection to the client.
    """

    def __init__(
        self, config: DeviceConfig, machine: PhoneMachine, phone: Phone, sock: socket.socket
    ) -> None:
        self._config = config
        self._machine = machine
        self._commands = ConsoleCommands(config.name, machine, phone).known
        self._sock = sock
        self._is_trusted = False

    def run(self) -> None:
        """Answer lines until the client quits."""
        self._say(f"{_BANNER}OK\n")
        buffer = b""
        while True:
            chunk = self._sock.recv(_MAX_LINE_BYTES)
            if not chunk:
                return
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in lines:
                if not self._answer(line.decode(errors="replace").strip()):
                    return
            if len(buffer) > _MAX_LINE_BYTES:
                self._say("KO: line too long\n")
                return

    def _say(self, text: str) -> None:
        self._sock.sendall(text.replace("\n", "\r\n").encode())

    def _answer(self, line: str) -> bool:
        """Run one line; return False if the session must end."""
        name, _, rest = line.partition(" ")
        if not name:
            return True
        if name in {"quit", "exit"}:
            return False
        try:
            if name == "kill" and self._is_trusted:
                self._say("OK: killing emulator, bye bye\n")
                self._machine.stop()
                return False
            output = self._find(name)(rest.strip())
        except (RefusedError, SnapshotRefusedError) as exc:
            self._say(f"KO: {exc}\n")
        else:
            self._say(f"{output}OK\n")
        return True

    def _find(self, name: str) -> Callable[[str], str]:
        if name == "auth":
            return self._auth
        if name in {"help", "h", "?"}:
            return lambda _: _HELP
        if name not in self._commands or not self._is_trusted:
            raise RefusedError("unknown command, try 'help'")
        return self._commands[name]

    def _auth(self, word: str) -> str:
        if not word:
            raise RefusedError("missing authentication token")
        token = self._config.token
        if not token or not hmac.compare_digest(word.encode(), token.encode()):
            raise RefusedError("authentication token does not match")
        self._is_trusted = True
        return "Android Console: type 'help' for a list of commands\n"
