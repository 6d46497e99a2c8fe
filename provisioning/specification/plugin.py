"""pytest plugin of specifications: the machine under test as testinfra's ``host``.

It runs in the process of pytest, which `provisioning.specification.runner` starts; commands for the
machine go back to that process over a Unix socket, so every kind of machine can be tested.
"""

from __future__ import annotations

import base64
import json
import os
import socket
from typing import Any

import pytest
from testinfra.backend.base import BaseBackend
from testinfra.host import Host

from provisioning.specification.plugin_name import RELAY


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


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Send the outcome of each test, and where and why it failed."""
    if report.when == "call" or report.outcome != "passed":
        _open_relay().ask(
            test=report.nodeid,
            outcome=report.outcome,
            line=(report.location[1] or 0) + 1,
            reason=report.longreprtext[-4000:] if report.failed else "",
        )
