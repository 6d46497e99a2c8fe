"""Benches of what is judged from outside: a machine's files and screen, a phone, a session."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from appliance.base.clock import FakeClock
from appliance.base.errors import GuestCallError
from evaluators.casebook.case import BenchBase
from evaluators.casebook.desktop import USER, DesktopBench
from evaluators.machine_view import MachineView
from evaluators.phone.fake import TableShell
from evaluators.phone.view import PhoneView
from evaluators.readers.formats import KINDS, read_document
from evaluators.session.view import CrossView
from provisioning.probe import files
from provisioning.probe.errors import ProbeError
from provisioning.probe.params import Params
from provisioning.protocols import FileStat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from appliance.base.clock import Clock
    from evaluators.casebook.case import Damage
    from evaluators.pictures import Pixels
    from provisioning.protocols import Json, Machine

_TIMEOUT_S = 60.0
_SHIFT_PX = 37


class _HereReader:
    """Reads documents in this process, each once; only for files that the casebook made."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Any] = {}

    def read(self, kind: str, data: bytes, *, timeout_s: float) -> Any:  # noqa: ANN401, ARG002
        key = (kind, hashlib.sha256(data).hexdigest())
        if key not in self._found:
            found = None
            with contextlib.suppress(Exception), contextlib.redirect_stdout(None):
                found = read_document(kind, data)
                json.dumps(asdict(found))
            self._found[key] = found
        found = self._found[key]
        return found if isinstance(found, KINDS[kind]) else None


_READER = _HereReader()


class ScratchFiles:
    """A folder as a machine's files, read by the probe's own operation.

    Args:
        root: stands for ``/``.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def get_straight(self, path: str, max_bytes: int) -> bytes | None:
        """Read a regular file as the probe does when links are refused."""
        data = b""
        while True:
            values: dict[str, Any] = {"path": f"{self._root}{path}", "offset": len(data)}
            try:
                piece = files.get(Params({**values, "straight": True}, _TIMEOUT_S))
            except ProbeError as exc:
                if exc.kind in {"not_found", "not_straight"}:
                    return None
                raise
            if piece["size"] > max_bytes:
                return None
            data += base64.b64decode(piece["data_b64"])
            if piece["eof"]:
                return data

    def get(self, path: str) -> bytes:
        """Read a file."""
        return (self._root / path.lstrip("/")).read_bytes()

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file."""
        full = self._root / path.lstrip("/")
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(data)
        full.chmod(mode)

    def stat(self, path: str) -> FileStat | None:
        """Tell about a file."""
        full = self._root / path.lstrip("/")
        if not full.exists():
            return None
        found = full.stat()
        return FileStat(found.st_size, found.st_mode, found.st_mtime)


class ScratchScreen:
    """Frames one after the other, the last one for ever.

    Args:
        frames: uint8 arrays (H, W, 3), RGB; at least one when it is looked at.
        clock: whose time passes.
        frame_s: how long each stands; 0 for one look each.
    """

    def __init__(self, frames: list[Pixels], clock: Clock, frame_s: float) -> None:
        self._frames = frames
        self._clock = clock
        self._frame_s = frame_s
        self._start_s = clock.monotonic_s()
        self._taken = 0

    def capture(self) -> Pixels:
        """Give the frame of now, or the next one."""
        number = self._taken
        if self._frame_s:
            number = int((self._clock.monotonic_s() - self._start_s) / self._frame_s)
        self._taken += 1
        return self._frames[min(number, len(self._frames) - 1)]

    def size(self) -> tuple[int, int]:
        """Give width and height in px."""
        height, width = self._frames[0].shape[:2]
        return width, height


class ScratchMachine:
    """A machine's files and screen; what else a machine has, it has not.

    Args:
        root: stands for ``/``.
        frames: what its screen shows, one after the other.
        clock: whose time passes.
        frame_s: as of `ScratchScreen`.
    """

    def __init__(
        self, root: Path, frames: list[Pixels], clock: Clock | None = None, frame_s: float = 0.0
    ) -> None:
        self.files = ScratchFiles(root)
        self.screen = ScratchScreen(frames, clock or FakeClock(), frame_s)


class MachineBench(DesktopBench):
    """A machine whose files and screen are looked at from outside.

    Attributes:
        frames: what its screen shows, one after the other.
        frame_s: how long each stands; 0 for one look each.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.frames: list[Pixels] = []
        self.frame_s = 0.0

    def subject(self) -> Any:  # noqa: ANN401 - a MachineView, where DesktopBench has its guest
        """Make a view that has looked at nothing yet."""
        clock = FakeClock()
        return MachineView(
            ScratchMachine(self.folder, self.frames, clock, self.frame_s),
            timeout_s=_TIMEOUT_S,
            reader=_READER,
            clock=clock,
            home=f"/home/{USER}",
        )

    def draw(self, *frames: Pixels) -> None:
        """Let the screen show these frames, one after the other."""
        self.frames.extend(frames)

    def perturbations(self) -> list[Damage]:
        """Spoil each file and what the screen shows."""
        damages = super().perturbations()
        if self.frames:
            damages += [
                ("screen: black", partial(self._redraw, np.zeros_like)),
                ("screen: mirrored", partial(self._redraw, lambda frame: frame[:, ::-1])),
                ("screen: moved", partial(self._redraw, lambda frame: np.roll(frame, _SHIFT_PX))),
                ("screen: inverted", partial(self._redraw, lambda frame: 255 - frame)),
            ]
        return damages

    def _redraw(self, how: Callable[[Pixels], Pixels]) -> None:
        self.frames[:] = [np.ascontiguousarray(how(frame)) for frame in self.frames]


class PhoneBench(BenchBase):
    """A phone that answers commands from a table.

    Attributes:
        shell: the table.
        timeout_s: the time there is to look.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.shell = TableShell()
        self.timeout_s = _TIMEOUT_S

    def subject(self) -> PhoneView:
        """Make a view that has looked at nothing yet."""
        return PhoneView(self.shell, timeout_s=self.timeout_s, clock=FakeClock())

    def perturbations(self) -> list[Damage]:
        """Spoil each answer."""
        return _shell_damages(self.shell)


class SessionBench(BenchBase):
    """A session: an answer, and machines by role.

    Attributes:
        answer: the last one handed in.
        desktop: of the role ``desktop``.
        shell: of the role ``phone``; what it was asked is answered from a table.
        settings: of the desktop's user as gsettings prints them, texts in quotes, by schema and key
            with a blank between.
        has_gsettings: the desktop has that program.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.has_gsettings = True
        self.answer: str | None = None
        self.desktop = MachineBench(folder / "desktop")
        self.phone_files = MachineBench(folder / "phone")
        self.shell = TableShell()
        self.settings: dict[str, str] = {}

    def answered(self, answer: str) -> None:
        """Hand in an answer."""
        self.answer = answer

    def subject(self) -> CrossView:
        """Make a view that has looked at nothing yet."""
        machines = {"desktop": _Desktop(self), "phone": _Phone(self)}
        return CrossView(
            self,
            cast("Mapping[str, Machine]", machines),
            timeout_s=_TIMEOUT_S,
            clock=FakeClock(),
            reader=_READER,
            home=f"/home/{USER}",
        )

    def perturbations(self) -> list[Damage]:
        """Spoil the answer, the desktop's files and settings, and the phone's files and answers."""
        damages = [(f"desktop: {name}", act) for name, act in self.desktop.perturbations()]
        damages += [(f"phone: {name}", act) for name, act in self.phone_files.perturbations()]
        damages += _shell_damages(self.shell)
        for name in self.settings:
            damages.append((f"{name}: other", partial(self.settings.update, {name: "'other'"})))
            damages.append((f"{name}: gone", partial(self.settings.pop, name)))
        if self.answer:
            damages += [
                ("answer: none", partial(setattr, self, "answer", None)),
                ("answer: empty", partial(setattr, self, "answer", "")),
                ("answer: longer", partial(setattr, self, "answer", f"{self.answer} or not")),
                ("answer: cut", partial(setattr, self, "answer", self.answer[:-1])),
                ("answer: twice", partial(setattr, self, "answer", self.answer * 2)),
            ]
        return damages


class _Desktop(ScratchMachine):
    """The desktop of a session's bench, which tells its user's settings."""

    def __init__(self, bench: SessionBench) -> None:
        super().__init__(bench.desktop.folder, bench.desktop.frames)
        self._bench = bench
        self.link = self

    def call(self, op: str, params: Mapping[str, Json], *, timeout_s: float) -> Json:  # noqa: ARG002
        words = cast("list[str]", params["argv"])
        if not self._bench.has_gsettings:
            raise GuestCallError(f"There is no {words[0]}.")
        value = self._bench.settings.get(" ".join(words[2:]))
        is_asked = op == "exec" and words[:2] == ["/usr/bin/gsettings", "get"]
        said = f"{value}\n" if value is not None and is_asked else ""
        code = 0 if said and params["user"] == "user" else 1
        return {"exit_code": code, "stdout_b64": base64.b64encode(said.encode()).decode()}


class _Phone(ScratchMachine):
    """The phone of a session's bench."""

    def __init__(self, bench: SessionBench) -> None:
        super().__init__(bench.phone_files.folder, bench.phone_files.frames)
        self.shell = bench.shell.shell


def _shell_damages(shell: TableShell) -> list[Damage]:
    damages: list[Damage] = []
    for command, said in list(shell.answers.items()):
        name = command[:60]
        others: dict[str, str | int] = {"fails": 1, "prints nothing": ""}
        if isinstance(said, str):
            others["prints less"] = said[: len(said) // 2]
            others["prints other"] = said.swapcase()
        for how, other in others.items():
            if other != said:
                damages.append((f"{name}: {how}", partial(shell.answers.update, {command: other})))
    return damages
