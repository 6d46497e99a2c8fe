"""A bench of a desktop: a scratch root with a home folder, programs that answer from a table."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.casebook.case import BenchBase
from provisioning.probe.guest import Guest, GuestError
from provisioning.probe.identity import Identity
from provisioning.probe.session import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evaluators.casebook.case import Damage
    from provisioning.probe.proc import Process

USER = "user"
UID = 1000

Answers = dict[tuple[str, ...], tuple[int, bytes, bytes]]


class ScratchGuest(Guest):
    """The probe's own `Guest`, with a folder for its root and a table for its programs.

    Args:
        root: stands for ``/``.
        answers: exit code, output and errors by the program's words.
        run: takes what is not in the table, as real programs; None refuses it.
    """

    def __init__(
        self, root: Path, answers: Answers, run: Callable[[Sequence[str]], Any] | None = None
    ) -> None:
        own = Identity.own()
        sessions = Sessions(own.name)
        sessions.identity = own._replace(name=USER, home=str(root / "home" / USER))
        super().__init__(sessions)
        self._root = str(root)
        self._answers = answers
        self._real = run

    def path(self, path: str) -> str:
        """Put absolute paths under the scratch root."""
        full = super().path(path)
        inside = full == self._root or full.startswith(self._root + "/")
        return full if inside else os.path.normpath(self._root + full)

    def run_as_user(self, argv: Sequence[str], timeout_s: float = 10.0) -> tuple[int, bytes, bytes]:
        """Answer from the table."""
        answer = self._answers.get(tuple(argv))
        if answer is not None:
            return answer
        if self._real is not None:
            return super().run_as_user(argv, timeout_s)
        raise GuestError(f"cannot start {argv[0]}: nobody answers for {list(argv)}")

    def windows(self) -> list[dict[str, Any]]:
        """Give the windows of the bench; a display of this host is not looked at."""
        if self._windows is None:
            raise GuestError("there is no graphical session")
        return self._windows

    def title_of(self, window: dict[str, Any]) -> str:
        """Give a window's title, as the bench has it."""
        return str(window["title"])

    def show(self, rows: list[dict[str, Any]]) -> None:
        """Have these windows."""
        self._windows = rows

    def have(self, processes: list[Process]) -> None:
        """Have these processes."""
        self._processes = processes


class DesktopBench(BenchBase):
    """A desktop's files, windows and programs' answers.

    Attributes:
        home: the agent's home folder.
        answers: what programs print, by their words.
        windows: rows as the probe gives them; None while there is no graphical session.
    """

    runs_programs = False

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "root")
        self.home = self.folder / "home" / USER
        self.home.mkdir(parents=True)
        self.answers: Answers = {}
        self.windows: list[dict[str, Any]] | None = None
        self.processes: list[Process] | None = None

    def subject(self) -> ScratchGuest:
        """Make a guest that has looked at nothing yet."""
        run = (lambda argv: argv) if self.runs_programs else None
        guest = ScratchGuest(self.folder, self.answers, run)
        if self.windows is not None:
            guest.show([dict(row) for row in self.windows])
        if self.processes is not None:
            guest.have(list(self.processes))
        return guest

    def at(self, path: str) -> Path:
        """Give where a path of the desktop really is."""
        return self.home / path[2:] if path.startswith("~/") else self.folder / path.lstrip("/")

    def write(self, path: str, content: str | bytes, mode: int = 0o644) -> Path:
        """Write a file, with the folders it needs."""
        full = self.at(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content.encode() if isinstance(content, str) else content)
        full.chmod(mode)
        return full

    def folder_at(self, path: str) -> Path:
        """Make a folder."""
        full = self.at(path)
        full.mkdir(parents=True, exist_ok=True)
        return full

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link to a path of the desktop, or to a relative one as it is."""
        full = self.at(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        full.symlink_to(self.at(target) if target[0] in "/~" else target)

    def huge(self, path: str, size_bytes: int = 1 << 40) -> None:
        """Make a sparse file that nobody can read whole."""
        with self.write(path, b"").open("r+b") as file:
            file.truncate(size_bytes)

    def prints(self, words: Sequence[str], out: str | bytes, code: int = 0, err: str = "") -> None:
        """Have a program print this."""
        raw = out.encode() if isinstance(out, str) else out
        self.answers[tuple(words)] = (code, raw, err.encode())

    def show(
        self,
        app: str,
        title: str,
        *,
        active: bool = False,
        geometry: Sequence[int] = (0, 0, 640, 480),
    ) -> None:
        """Have a window above those that are there."""
        self.windows = self.windows or []
        self.windows.append(
            {
                "id": 0x1000001 + len(self.windows),
                "title": title,
                "wm_class": [app.lower(), app],
                "pid": 4000 + len(self.windows),
                "geometry": list(geometry),
                "active": active,
            }
        )

    def perturbations(self) -> list[Damage]:
        """Spoil each file, each window and each program's answer."""
        files = sorted(
            path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()
        )
        damages: list[Damage] = []
        for path in files:
            damages += _file_damages(path, str(path.relative_to(self.folder)))
        for number, row in enumerate(self.windows or ()):
            damages += self._window_damages(number, row)
        for words, answer in self.answers.items():
            damages += self._answer_damages(words, answer)
        return damages

    def _window_damages(self, number: int, row: dict[str, Any]) -> list[Damage]:
        def change(values: Mapping[str, Any]) -> Callable[[], object]:
            return lambda: row.update(values)

        rows = self.windows or []
        left, top, width, height = row["geometry"]
        return [
            (f"window {number}: close", lambda: rows.remove(row)),
            (f"window {number}: other class", change({"wm_class": ["other", "Other"]})),
            (f"window {number}: other title", change({"title": "Other"})),
            (f"window {number}: front", change({"active": not row["active"]})),
            (f"window {number}: move", change({"geometry": [left + 99, top, width, height]})),
            (f"window {number}: resize", change({"geometry": [left, top, width, height + 99]})),
        ]

    def _answer_damages(
        self, words: tuple[str, ...], answer: tuple[int, bytes, bytes]
    ) -> list[Damage]:
        def put(code: int, out: bytes) -> Callable[[], object]:
            return lambda: self.answers.update({words: (code, out, answer[2])})

        name = Path(words[0]).name
        return [
            (f"{name}: fails", put(1, b"")),
            (f"{name}: prints nothing", put(0, b"")),
            (f"{name}: prints less", put(0, answer[1][: len(answer[1]) // 2])),
            (f"{name}: prints other", put(0, answer[1].swapcase()[::-1])),
        ]


def _file_damages(path: Path, name: str) -> list[Damage]:
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
