"""The console's client against sessions in the emulator's words, replayed by a server.

Source: AOSP ``external/qemu/android/console.c``, ``android-emu/android/console.cpp``; not recorded.
"""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation.errors import GuestCallError, LinkClosedError
from provisioning.phone.reference.console import ConsoleClient

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parents[4] / "golden"


class Replay:
    """A console that sends the lines of a session, each after the client's line before it.

    Args:
        name: file of the session.
    """

    def __init__(self, name: str) -> None:
        self.lines = (GOLDEN / name).read_text().splitlines()
        self.unexpected: list[str] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = ("127.0.0.1", self._server.getsockname()[1])
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        """Wait for the end of the session."""
        self._thread.join()
        self._server.close()

    def _serve(self) -> None:
        sock, _ = self._server.accept()
        with sock, sock.makefile("rw", newline="\n") as stream:
            for line in self.lines:
                side, text = line[0], line[2:]
                if side == "<":
                    stream.write(f"{text}\r\n")
                    stream.flush()
                elif (asked := stream.readline().rstrip("\n")) != text:
                    self.unexpected.append(asked)
                    return


@pytest.fixture
def replay(request: pytest.FixtureRequest) -> Iterator[Replay]:
    server = Replay(request.param)
    yield server
    server.close()


@pytest.mark.parametrize("replay", ["console-save.txt"], indirect=True)
def test_session_that_saves_lists_and_loads(replay: Replay) -> None:
    with ConsoleClient(replay.address, "t0ken") as console:
        assert console.run("avd snapshot save ready", timeout_s=5) == []
        listed = console.run("avd snapshot list", timeout_s=5)
        assert [line.split()[1] for line in listed if line.startswith("--")] == [
            "mesocosm",
            "ready",
        ]
        assert console.run("avd snapshot load ready", timeout_s=5) == []
    assert replay.unexpected == []


@pytest.mark.parametrize("replay", ["console-refused.txt"], indirect=True)
def test_refusal_carries_the_emulators_reason(replay: Replay) -> None:
    with ConsoleClient(replay.address, "t0ken") as console:
        with pytest.raises(GuestCallError) as refused:
            console.run("avd snapshot save ready", timeout_s=5)
        assert "Not enough disk space" in refused.value.details
        with pytest.raises(GuestCallError) as missing:
            console.run("avd snapshot load gone", timeout_s=5)
        assert "no such snapshot" in missing.value.details


@pytest.mark.parametrize("replay", ["console-save.txt"], indirect=True)
def test_console_that_ends_is_closed(replay: Replay) -> None:
    with pytest.raises(LinkClosedError):
        ConsoleClient(replay.address, "wrong")
