"""pytest plugin of specifications: the machine under test as testinfra's ``host``.

It runs in the process of pytest, which `provisioning.specification.runner` starts; commands for the
machine go back to that process over a Unix socket, so every kind of machine can be tested.
"""

from __future__ import annotations

import base64
import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from testinfra.backend.base import BaseBackend
from testinfra.host import Host

from foundation.clock import wait_until
from provisioning.specification.plugin_name import RELAY

_EVERY_S = 2.0
_BLANK_COLOURS = 12
"""A window with at most that many colours shows nothing."""


class Relay:
    """The connection to the process that holds the machine."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._file = self._socket.makefile("rw", encoding="utf-8")

    def ask(self, **request: object) -> dict[str, Any]:
        """Send a request and return the reply."""
        self._file.write(json.dumps(request) + "\n")
        self._file.flush()
        reply: dict[str, Any] = json.loads(self._file.readline())
        return reply


class RelayBackend(BaseBackend):  # type: ignore[misc]  # testinfra has no types
    """testinfra backend that runs commands as one user of the machine."""

    NAME = "mesocosm"

    def __init__(self, relay: Relay, user: str) -> None:
        super().__init__(user)
        self._relay = relay
        self._user = user

    def run(self, command: str, *args: str, **_kwargs: object) -> Any:  # noqa: ANN401 - untyped
        """Run a shell command on the machine."""
        line = self.get_command(command, *args)
        reply = self._relay.ask(command=line, user=self._user)
        output, errors = (base64.b64decode(reply[name]) for name in ("stdout", "stderr"))
        return self.result(reply["exit_code"], self.encode(line), output, errors)


@dataclass(frozen=True)
class Window:
    """A window that is open.

    Attributes:
        title: its title.
        wm_class: its class, as in ``Instance.Class``.
        geometry: left, top, width and height, px.
        active: whether it has the keyboard's focus.
    """

    title: str
    wm_class: str
    geometry: tuple[int, int, int, int]
    active: bool


class Screen:
    """The screen of the machine, as the host sees it."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    def windows(self) -> list[Window]:
        """Return the windows of programs, bottom to top."""
        return [
            Window(
                str(row["title"]),
                ".".join(map(str, row["wm_class"] or ())),
                (row["geometry"][0], row["geometry"][1], row["geometry"][2], row["geometry"][3]),
                bool(row["active"]),
            )
            for row in self._ask(windows=True)["windows"]
        ]

    def wait_for_window(self, text: str, timeout_s: float = 240.0) -> Window:
        """Return the topmost window with a text in its title or class, once it is open.

        Raises:
            AssertionError: none was opened in time.
        """

        def find() -> Window | None:
            windows = reversed(self.windows())
            return next((row for row in windows if text in f"{row.title}\n{row.wm_class}"), None)

        found = wait_until(find, timeout_s=timeout_s, every_s=_EVERY_S)
        if found is None:
            titles = ", ".join(repr(row.title) for row in self.windows())
            raise AssertionError(f"No window of {text!r} within {timeout_s:g} s, but {titles}.")
        return found

    def see(self, text: str, name: str, timeout_s: float = 240.0) -> Window:
        """Wait until a window is open, has drawn its content, and the screen is still.

        Args:
            text: part of the window's title or class.
            name: the last picture is kept beside the image under this name.
            timeout_s: limit of the wait for the window, and of that for its content.

        Raises:
            AssertionError: there is no such window in time, or nothing is drawn in it.
        """
        window = self.wait_for_window(text, timeout_s)
        left, top, width, height = window.geometry
        box = (max(left, 0), max(top, 0), left + width, top + height)
        before: list[Image.Image] = []

        def is_drawn() -> bool:
            with Image.open(self.picture(name)) as picture:
                seen = picture.convert("RGB").crop(box)
            is_blank = seen.getcolors(_BLANK_COLOURS) is not None
            is_still = before[-1:] == [seen]
            before[:] = [seen]
            return is_still and not is_blank

        assert wait_until(is_drawn, timeout_s=timeout_s, every_s=_EVERY_S), (  # noqa: S101
            f"The window {window.title!r} was not drawn within {timeout_s:g} s."
        )
        return window

    def picture(self, name: str) -> Path:
        """Take a picture of the screen, which is kept beside the image under a name.

        Returns:
            The path of a PNG file.
        """
        return Path(self._ask(picture=name)["picture"])

    def _ask(self, **request: object) -> dict[str, Any]:
        reply = self._relay.ask(**request)
        assert "error" not in reply, reply["error"]  # noqa: S101
        return reply


_relay: list[Relay] = []


def _open_relay() -> Relay:
    if not _relay:
        _relay.append(Relay(os.environ[RELAY]))
    return _relay[0]


@pytest.fixture(scope="session")
def host() -> Any:  # noqa: ANN401 - testinfra has no types
    """Return the machine; commands run as root."""
    return Host(RelayBackend(_open_relay(), "root"))


@pytest.fixture(scope="session")
def desktop() -> Any:  # noqa: ANN401 - testinfra has no types
    """Return the machine; commands run as the agent's user, in the running session."""
    return Host(RelayBackend(_open_relay(), ""))


@pytest.fixture(scope="session")
def screen() -> Screen:
    """Return the machine's screen."""
    return Screen(_open_relay())


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Send the outcome of each test, and where and why it failed."""
    if report.when == "call" or report.outcome != "passed":
        _open_relay().ask(
            test=report.nodeid,
            outcome=report.outcome,
            line=(report.location[1] or 0) + 1,
            reason=report.longreprtext[-4000:] if report.failed else "",
        )
