"""Run the specification of an image, and the standard checks, on one of its machines."""

from __future__ import annotations

import base64
import json
import os
import re
import socketserver
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PIL import Image

from foundation.errors import MesocosmError, RequirementError, UsageError
from foundation.process import stream
from foundation.settings import REPOSITORY
from provisioning.specification.plugin_name import PLUGIN, RELAY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from provisioning.protocols import Commands, Link, Screen

STANDARD = Path(__file__).parent / "standard_checks.py"
"""The checks that every custom image must pass."""
_TIMEOUT_S = 1800.0
_COMMAND_S = 60.0
_WINDOWS_S = 60.0
_PICTURE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_NO_TESTS = 5
"""Exit code of pytest if no tests were found."""


if TYPE_CHECKING:

    class TestedMachine(Commands, Protocol):
        """What tests use of a machine."""

        @property
        def link(self) -> Link:
            """Return the link to its probe."""
            ...

        @property
        def screen(self) -> Screen:
            """Return its screen."""
            ...


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """The outcome of one test.

    Attributes:
        name: file and function.
        outcome: ``passed``, ``failed`` or ``skipped``.
        line: line in its file.
        reason: why it failed.
    """

    __test__ = False

    name: str
    outcome: str
    line: int = 0
    reason: str = ""


@dataclass(frozen=True)
class SpecificationReport:
    """The outcomes of all tests.

    Attributes:
        outcomes: one for each test.
        problem: why tests could not run; empty if they did.
    """

    outcomes: tuple[TestOutcome, ...] = ()
    problem: str = ""

    @property
    def failed(self) -> list[TestOutcome]:
        """Return the failed tests."""
        return [outcome for outcome in self.outcomes if outcome.outcome == "failed"]

    @property
    def is_passed(self) -> bool:
        """Return whether all tests ran and none failed."""
        return not self.problem and not self.failed

    def lines(self) -> list[str]:
        """Return one line or more for each failed test."""
        texts = [f"{test.name} (line {test.line}): {test.reason}" for test in self.failed]
        return [self.problem, *texts] if self.problem else texts


def require_tools() -> None:
    """Check that this installation can run specifications.

    Raises:
        RequirementError: pytest or testinfra is not installed.
    """
    missing = [name for name in ("pytest", "testinfra") if find_spec(name) is None]
    if missing:
        raise RequirementError(
            f"Specifications of images need {' and '.join(missing)}.",
            resolution="Install the extra `images`: `pip install --editable '.[images]'`.",
        )


def run_specification(
    machine: TestedMachine,
    files: Sequence[Path],
    on_line: Callable[[str], None],
    *,
    pictures: Path | None = None,
) -> SpecificationReport:
    """Run test files against a machine, in a process of their own.

    Args:
        machine: runs the commands of the tests, and has the screen that they see.
        files: test files.
        on_line: called with each line of pytest's output.
        pictures: folder of the pictures that tests take; by default they are not kept.

    Raises:
        RequirementError: pytest or testinfra is not installed.
        ToolTimeoutError: the tests did not end in time.
    """
    require_tools()
    with tempfile.TemporaryDirectory(prefix="mesocosm-spec-") as folder:
        address = Path(folder) / "relay"
        server = _Server(str(address), machine, pictures or Path(folder))
        threading.Thread(target=server.serve_forever, name="specification", daemon=True).start()
        try:
            argv = [sys.executable, "-m", "pytest", "-q", "-p", PLUGIN, "-p", "no:cacheprovider"]
            argv += ["-p", "no:testinfra", "-p", "no:pytest11.testinfra", "-c", os.devnull]
            argv += ["--rootdir", folder, "--import-mode=importlib", *map(str, files)]
            env = {RELAY: str(address), "PYTHONPATH": str(REPOSITORY), "PYTEST_ADDOPTS": ""}
            env["PYTHONDONTWRITEBYTECODE"] = "1"  # the files lie in a built image
            done = stream(argv, on_line=on_line, timeout_s=_TIMEOUT_S, env=env, cwd=Path(folder))
        finally:
            server.shutdown()
            server.server_close()
    problem = ""
    if done.exit_code not in {0, 1, _NO_TESTS}:
        problem = f"pytest ended with exit code {done.exit_code}:\n{done.text[-3000:]}"
    elif done.exit_code == 1 and not any(test.outcome == "failed" for test in server.outcomes):
        problem = f"tests could not be collected:\n{done.text[-3000:]}"
    return SpecificationReport(tuple(server.outcomes), problem)


@dataclass
class _Relay:
    """Executes the requests of the plugin."""

    machine: TestedMachine
    pictures: Path
    outcomes: list[TestOutcome] = field(default_factory=list)

    def answer(self, request: dict[str, Any]) -> dict[str, object]:
        """Return the reply to one request."""
        if "test" in request:
            self.outcomes.append(
                TestOutcome(request["test"], request["outcome"], request["line"], request["reason"])
            )
            return {}
        try:
            if "windows" in request:
                return {"windows": self.machine.link.call("windows", {}, timeout_s=_WINDOWS_S)}
            if "picture" in request:
                return {"picture": self._take(str(request["picture"]))}
        except MesocosmError as exc:
            return {"error": str(exc)}
        return self._execute(request)

    def _take(self, name: str) -> str:
        """Save a picture of the screen; return its path."""
        if not _PICTURE_NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name for a picture: letters, digits, - and _.")
        self.pictures.mkdir(parents=True, exist_ok=True)
        path = self.pictures / f"{name}.png"
        Image.fromarray(self.machine.screen.capture()).save(path)
        return str(path)

    def _execute(self, request: dict[str, Any]) -> dict[str, object]:
        argv = ["/bin/sh", "-c", request["command"]]
        try:
            done = self.machine.run(argv, user=request["user"] or None, timeout_s=_COMMAND_S)
        except MesocosmError as exc:
            return {"exit_code": 255, "stdout": "", "stderr": _text(str(exc).encode())}
        return {
            "exit_code": done.exit_code,
            "stdout": _text(done.stdout),
            "stderr": _text(done.stderr),
        }


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


class _Server(socketserver.ThreadingUnixStreamServer):
    """Serves the plugin's connection."""

    daemon_threads = True

    def __init__(self, address: str, machine: TestedMachine, pictures: Path) -> None:
        self.relay = _Relay(machine, pictures)
        super().__init__(address, _Handler)

    @property
    def outcomes(self) -> list[TestOutcome]:
        """Return the outcomes received so far."""
        return self.relay.outcomes


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        """Answer requests until the connection ends."""
        server = self.server
        assert isinstance(server, _Server)  # noqa: S101
        for line in self.rfile:
            reply = server.relay.answer(json.loads(line))
            self.wfile.write(json.dumps(reply).encode() + b"\n")
