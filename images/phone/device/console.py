"""The console: Android emulator's protocol, as far as this phone needs it.

Source: AOSP ``external/qemu/android/console.c``; each command is a line, each answer ends in
``OK`` or begins with ``KO:``.
"""

from __future__ import annotations

import contextlib
import hmac
import socket
from typing import TYPE_CHECKING

from images.phone.device.listener import Listener
from images.phone.device.store.snapshots import SnapshotRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.config import DeviceConfig
    from images.phone.device.machine import PhoneMachine

MAX_CONNECTIONS = 16
_MAX_LINE_BYTES = 4096
_IDLE_TIMEOUT_S = 600.0
_BANNER = "Android Console: Authentication required\nAndroid Console: type 'auth <auth_token>' to authenticate\n"
_HELP = """Android console command help:

    help|h|?         print a list of commands
    avd              control virtual device execution
    kill             terminate the phone
    ping             check if the phone is alive
    quit|exit        quit control session
"""
_SNAPSHOT_HELP = """allows you to save and restore the virtual device state in snapshots

available sub-commands:
    list             list available state snapshots
    save             save state snapshot
    load             load state snapshot
    delete           delete state snapshot
"""


class _RefusedError(Exception):
    """A command is answered by KO and these words."""


class ConsoleServer:
    """Serve console sessions.

    Args:
        config: port, token and name.
        machine: what is controlled.
    """

    def __init__(self, config: DeviceConfig, machine: PhoneMachine) -> None:
        self._config = config
        self._machine = machine
        self._listener = Listener(
            config.address,
            config.console_port,
            self._serve,
            max_connections=MAX_CONNECTIONS,
            name="console",
        )
        self.port = self._listener.port

    def start(self) -> None:
        """Begin to accept sessions."""
        self._listener.start()

    def stop(self) -> None:
        """Accept no more."""
        self._listener.stop()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError, UnicodeError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(_IDLE_TIMEOUT_S)
            ConsoleSession(self._config, self._machine, sock).run()


class ConsoleSession:
    """One session.

    Args:
        config: token and name.
        machine: what is controlled.
        sock: to the client.
    """

    def __init__(self, config: DeviceConfig, machine: PhoneMachine, sock: socket.socket) -> None:
        self._config = config
        self._machine = machine
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
        """Carry out one line; False when the session is to end."""
        name, *words = line.split() or [""]
        if not name:
            return True
        if name in {"quit", "exit"}:
            return False
        try:
            if name == "kill" and self._is_trusted:
                self._say("OK: killing emulator, bye bye\n")
                self._machine.stop()
                return False
            said = self._find(name)(words)
        except (_RefusedError, SnapshotRefusedError) as exc:
            self._say(f"KO: {exc}\n")
        else:
            self._say(f"{said}OK\n")
        return True

    def _find(self, name: str) -> Callable[[list[str]], str]:
        commands: dict[str, Callable[[list[str]], str]] = {
            "help": lambda _: _HELP,
            "h": lambda _: _HELP,
            "?": lambda _: _HELP,
            "auth": self._auth,
            "avd": self._avd,
            "ping": lambda _: "I am alive!\n",
        }
        is_open = name in {"help", "h", "?", "auth"}
        if name not in commands or not (is_open or self._is_trusted):
            raise _RefusedError("unknown command, try 'help'")
        return commands[name]

    def _auth(self, words: list[str]) -> str:
        if len(words) != 1:
            raise _RefusedError("missing authentication token")
        token = self._config.token
        if not token or not hmac.compare_digest(words[0].encode(), token.encode()):
            raise _RefusedError("authentication token does not match")
        self._is_trusted = True
        return "Android Console: type 'help' for a list of commands\n"

    def _avd(self, words: list[str]) -> str:
        match words:
            case ["name"]:
                return f"{self._config.name}\n"
            case ["status"]:
                return "virtual device is running\n"
            case ["snapshot", *rest]:
                return self._snapshot(rest)
            case _:
                raise _RefusedError("bad sub-command: try 'avd name|status|snapshot'")

    def _snapshot(self, words: list[str]) -> str:
        match words:
            case ["list"]:
                return _list(self._machine.snapshot_names())
            case ["save", name]:
                self._machine.save(name)
            case ["load", name]:
                self._machine.load(name)
            case ["delete" | "del", name]:
                self._machine.delete_snapshot(name)
            case ["save" | "load" | "delete" | "del"]:
                raise _RefusedError("argument missing, try 'avd snapshot save <name>'")
            case []:
                return _SNAPSHOT_HELP
            case _:
                raise _RefusedError("bad sub-command")
        return ""


def _list(names: list[str]) -> str:
    """Give the table that the emulator prints."""
    if not names:
        return "There is no snapshot available.\n"
    head = "List of snapshots present on all disks:\nID        TAG                 VM SIZE\n"
    return head + "".join(f"--        {name}\n" for name in names)
