"""Test fixture of a desktop: files under a scratch root, windows, and a table of programs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import BaseFixture
from provisioning.probe.guest import Guest, GuestError
from provisioning.probe.system.identity import Identity
from provisioning.probe.system.session import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evaluators.testing.case import StateMutation
    from provisioning.probe.system.proc import Process

USER = "user"
UID = 1000

Answers = dict[tuple[str, ...], tuple[int, bytes, bytes]]


class ScratchGuest(Guest):
    """The probe's `Guest` with a scratch root and a table of programs' results.

    It has no graphical session, even if this host has one.

    Args:
        root: folder used as ``/``.
        answers: exit code, stdout and stderr by argument list.
        runs_programs: whether to run programs that are not in the table, instead of rejecting them.
    """

    def __init__(self, root: Path, answers: Answers, *, runs_programs: bool = False) -> None:
        own = Identity.own()
        sessions = Sessions(own.name)
        sessions.identity = own._replace(name=USER, home=str(root / "home" / USER))
        sessions.adopt(None)
        super().__init__(sessions)
        self._root = str(root)
        self._answers = answers
        self._runs_programs = runs_programs

    def path(self, path: str) -> str:
        """Return the location of a path below the scratch root."""
        full = super().path(path)
        inside = full == self._root or full.startswith(self._root + "/")
        return full if inside else os.path.normpath(self._root + full)

    def run_as_user(self, argv: Sequence[str], timeout_s: float = 10.0) -> tuple[int, bytes, bytes]:
        """Return the result from the table, or from the real program."""
        answer = self._answers.get(tuple(argv))
        if answer is not None:
            return answer
        if self._runs_programs:
            return super().run_as_user(argv, timeout_s)
        raise GuestError(f"cannot start {argv[0]}: the fixture has no result for {list(argv)}")

    def windows(self) -> list[dict[str, Any]]:
        """Return the windows of the fixture, never those of this host."""
        if self._windows is None:
            raise GuestError("there is no graphical session")
        return self._windows

    def title_of(self, window: dict[str, Any]) -> str:
        """Return a window's title."""
        return str(window["title"])

    def show(self, rows: list[dict[str, Any]]) -> None:
        """Set the windows."""
        self._windows = rows

    def have(self, processes: list[Process]) -> None:
        """Set the processes."""
        self._processes = processes


class DesktopFixture(BaseFixture):
    """A desktop with files, windows, processes and results of programs.

    Attributes:
        home: the agent's home folder.
        answers: exit code, stdout and stderr of programs, by argument list.
        windows: rows as returned by the probe; None if there is no graphical session.
        processes: the process table; None for that of this host.
    """

    runs_programs = False

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "root")
        self.suite_folder = folder / "suite"
        self.home = self.folder / "home" / USER
        self.home.mkdir(parents=True)
        self.answers: Answers = {}
        self.windows: list[dict[str, Any]] | None = None
        self.processes: list[Process] | None = None

    def subject(self) -> ScratchGuest:
        """Create a guest with an empty cache."""
        guest = ScratchGuest(self.folder, self.answers, runs_programs=self.runs_programs)
        if self.windows is not None:
            guest.show([dict(row) for row in self.windows])
        if self.processes is not None:
            guest.have(list(self.processes))
        return guest

    def at(self, path: str) -> Path:
        """Return the location of a desktop's path on this host."""
        return self.home / path[2:] if path.startswith("~/") else self.folder / path.lstrip("/")

    def write(self, path: str, content: str | bytes, mode: int = 0o644) -> Path:
        """Write a file and its missing folders."""
        full = self.at(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content.encode() if isinstance(content, str) else content)
        full.chmod(mode)
        return full

    def folder_at(self, path: str) -> Path:
        """Create a folder."""
        full = self.at(path)
        full.mkdir(parents=True, exist_ok=True)
        return full

    def link(self, path: str, target: str) -> None:
        """Create a symbolic link to a path of the desktop, or to a relative target."""
        full = self.at(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        full.symlink_to(self.at(target) if target[0] in "/~" else target)

    def huge(self, path: str, size_bytes: int = 1 << 40) -> None:
        """Create a sparse file that is too large to read."""
        with self.write(path, b"").open("r+b") as file:
            file.truncate(size_bytes)

    def prints(self, argv: Sequence[str], out: str | bytes, code: int = 0, err: str = "") -> None:
        """Set the output of a program."""
        raw = out.encode() if isinstance(out, str) else out
        self.answers[tuple(argv)] = (code, raw, err.encode())

    def show(
        self,
        app: str,
        title: str,
        *,
        active: bool = False,
        geometry: Sequence[int] = (0, 0, 640, 480),
        visible: bool = True,
    ) -> None:
        """Add a window above the others."""
        self.windows = self.windows or []
        self.windows.append(
            {
                "id": 0x1000001 + len(self.windows),
                "title": title,
                "wm_class": [app.lower(), app],
                "pid": 4000 + len(self.windows),
                "geometry": list(geometry),
                "active": active,
                "visible": visible,
            }
        )

    def state_mutations(self) -> list[StateMutation]:
        """Return mutations of each file, window and program result."""
        files = sorted(
            path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()
        )
        mutations: list[StateMutation] = []
        for path in files:
            mutations += _file_mutations(path, str(path.relative_to(self.folder)))
        for number, row in enumerate(self.windows or ()):
            mutations += self._window_mutations(number, row)
        for argv, answer in self.answers.items():
            mutations += self._answer_mutations(argv, answer)
        return mutations

    def _window_mutations(self, number: int, row: dict[str, Any]) -> list[StateMutation]:
        def change(values: Mapping[str, Any]) -> Callable[[], object]:
            return lambda: row.update(values)

        rows = self.windows or []
        left, top, width, height = row["geometry"]
        return [
            (f"window {number}: close", lambda: rows.remove(row)),
            (f"window {number}: other class", change({"wm_class": ["other", "Other"]})),
            (f"window {number}: other title", change({"title": "Other"})),
            (f"window {number}: front", change({"active": not row["active"]})),
            (f"window {number}: invisible", change({"visible": False})),
            (f"window {number}: move", change({"geometry": [left + 99, top, width, height]})),
            (f"window {number}: resize", change({"geometry": [left, top, width, height + 99]})),
        ]

    def _answer_mutations(
        self, argv: tuple[str, ...], answer: tuple[int, bytes, bytes]
    ) -> list[StateMutation]:
        def put(code: int, out: bytes) -> Callable[[], object]:
            return lambda: self.answers.update({argv: (code, out, answer[2])})

        name = Path(argv[0]).name
        return [
            (f"{name}: fails", put(1, b"")),
            (f"{name}: prints nothing", put(0, b"")),
            (f"{name}: prints less", put(0, answer[1][: len(answer[1]) // 2])),
            (f"{name}: prints other", put(0, answer[1].swapcase()[::-1])),
        ]


def _file_mutations(path: Path, name: str) -> list[StateMutation]:
    data = path.read_bytes()
    middle = len(data) // 2
    flipped = data[:middle] + bytes([data[middle] ^ 0x15]) + data[middle + 1 :] if data else b"\n\n"
    return [
        (f"{name}: delete", path.unlink),
        (f"{name}: rename", lambda: path.rename(path.with_name("x" + path.name))),
        (f"{name}: empty", lambda: path.write_bytes(b"" if data else b"something")),
        (f"{name}: cut", lambda: path.write_bytes(data[:middle] or b"?")),
        (f"{name}: flip a byte", lambda: path.write_bytes(flipped)),
        (f"{name}: folder", lambda: _swap_for_folder(path)),
        (f"{name}: link", lambda: _swap_for_link(path)),
    ]


def _swap_for_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _swap_for_link(path: Path) -> None:
    aside = path.parent.parent / f"aside-{path.name}"
    shutil.move(path, aside)
    path.symlink_to(aside)
