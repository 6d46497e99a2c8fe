"""Runs the desktop evaluators of a bundle against an in-memory desktop."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from foundation.errors import GuestCallError
from provisioning.probe import reasons
from provisioning.probe.guest import Guest
from provisioning.probe.system.proc import Process

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from provisioning.fake.machine import FakeFile
    from provisioning.protocols import Json

_MARK = "__mesocosm_mark__"
_WITHOUT_EVALUATORS = {
    "mesocosm",
    "evaluators",
    "mesocosm.authoring",
    "evaluators.decorators",
    "evaluators.desktop",
}


class EvaluatedState(Protocol):
    """Files and folders of an in-memory desktop."""

    files: dict[str, FakeFile]
    folders: set[str]


class EvaluatedDesktop(Protocol):
    """The interface of an in-memory desktop that evaluators use."""

    @property
    def state(self) -> EvaluatedState:
        """Return its files and folders."""
        ...

    def run_command(self, argv: list[str]) -> str | None:
        """Run a command line and return its output; None for an unknown command."""
        ...

    def answer(self, op: str, params: dict[str, Json], timeout_s: float) -> Json:
        """Answer a request as the probe does."""
        ...

    def process_names(self) -> list[str]:
        """Return the names of all processes."""
        ...


class FakeGuest(Guest):
    """The guest that evaluators see of a fake desktop.

    Evaluators read real files, so the desktop's files are written to a folder.

    Args:
        desktop: the machine.
        root: folder to which `write_tree` wrote its files.
    """

    def __init__(self, desktop: EvaluatedDesktop, root: Path) -> None:
        self._desktop = desktop
        self._root = root

    @property
    def user(self) -> str:
        """Return the login name of the user that the agent acts as."""
        return "user"

    @property
    def home(self) -> str:
        """Return that user's home folder."""
        return str(self._root / "home/user")

    def path(self, path: str) -> str:
        """Map a path into the folder; ``~`` and relative paths refer to the home folder."""
        inside = path.removeprefix("~").lstrip("/")
        is_absolute = path.startswith("/")
        return os.path.normpath(self._root / inside if is_absolute else f"{self.home}/{inside}")

    def run_as_user(self, argv: Sequence[str], timeout_s: float = 10.0) -> tuple[int, bytes, bytes]:
        """Run one of the commands that the desktop's terminal supports."""
        out = self._desktop.run_command([argv[0].rsplit("/", 1)[-1], *argv[1:]])
        return (127, b"", b"not found") if out is None else (0, out.encode(), b"")

    def processes(self) -> list[Process]:
        """Return the processes of all users."""
        names = self._desktop.process_names()
        return [Process(pid, 1, 1000, name, (name,)) for pid, name in enumerate(names, 2)]

    def windows(self) -> list[dict[str, Any]]:
        """Return the open applications as windows."""
        rows = cast("list[dict[str, Any]]", self._desktop.answer("windows", {}, 1.0))
        return [{**row, "visible": True} for row in rows]

    def title_of(self, window: dict[str, Any]) -> str:
        """Return a window's title."""
        return str(window["title"])


def write_tree(desktop: EvaluatedDesktop, root: Path) -> None:
    """Write a desktop's files and folders into a folder."""
    for folder in ["/home/user", *desktop.state.folders]:
        (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for name, file in desktop.state.files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)


class Judge:
    """Loads bundles and runs waves as the probe does, in this process."""

    def __init__(self) -> None:
        self._bundles: dict[str, dict[str, Callable[..., object]]] = {}

    def load(self, digest: str, modules: Mapping[str, str]) -> Json:
        """Execute the modules that define evaluators and store their functions.

        Imports among modules resolve to the versions in this process.
        """
        evaluators: dict[str, Callable[..., object]] = {}
        for name, source in modules.items():
            if name not in _WITHOUT_EVALUATORS:
                names: dict[str, object] = {
                    "__name__": name,
                    "__package__": name.rpartition(".")[0],
                }
                exec(compile(source, name, "exec"), names)  # noqa: S102 - the suite's own code
                evaluators |= {
                    key: cast("Callable[..., object]", value)
                    for key, value in names.items()
                    if getattr(value, _MARK, None) is not None
                }
        self._bundles[digest] = evaluators
        return {"loaded": True}

    def evaluate(self, desktop: EvaluatedDesktop, params: Mapping[str, Json]) -> Json:
        """Run one wave.

        Raises:
            GuestCallError: the bundle was not loaded.
        """
        digest = str(params["bundle"])
        if digest not in self._bundles:
            raise GuestCallError(f"Unknown bundle {digest[:12]}.")
        calls = cast("list[dict[str, Any]]", params["calls"])
        with tempfile.TemporaryDirectory(prefix="mesocosm-fake-") as name:
            write_tree(desktop, Path(name))
            guest = FakeGuest(desktop, Path(name))
            return [_run(self._bundles[digest], guest, call) for call in calls]


def _run(known: Mapping[str, Callable[..., object]], guest: Guest, call: dict[str, Any]) -> Json:
    row: dict[str, Json] = {"node": call["node"], "met": None, "reason": ""}
    function = known.get(call["name"])
    if function is None:
        message = f"there is no evaluator called {call['name']!r}"
        return {**row, "reason": message, "code": reasons.UNKNOWN}
    try:
        met = function(guest, **call["args"])
    except Exception as exc:  # noqa: BLE001 - as the probe: it only makes its node inconclusive
        message = f"{type(exc).__name__}: {exc}"
        return {**row, "reason": message, "code": reasons.code_of(exc)}
    return {**row, "met": bool(met)}
