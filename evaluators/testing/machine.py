"""Test fixture of a machine whose files and screen are evaluated on the host."""

from __future__ import annotations

import base64
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evaluators.machine_view import MachineView
from evaluators.testing.desktop import USER, DesktopFixture
from foundation.clock import FakeClock
from provisioning.probe.errors import ProbeError
from provisioning.probe.serving.params import Params
from provisioning.probe.system import files
from provisioning.protocols import FileStat, MachineInfo
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evaluators.pictures import Pixels
    from evaluators.rendering.source import ViewSource
    from evaluators.testing.case import StateMutation
    from foundation.clock import Clock

TIMEOUT_S = 60.0
"""Time limit of an evaluator in a fixture."""
_SHIFT_PX = 37


class ScratchFiles:
    """The files of a machine, in a scratch folder, read with the probe's own operation.

    Args:
        root: stands for ``/``.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def get_no_follow(self, path: str, max_bytes: int) -> bytes | None:
        """Read a regular file; reject links like the probe."""
        data = b""
        while True:
            values: dict[str, Any] = {"path": f"{self._root}{path}", "offset": len(data)}
            try:
                piece = files.get(Params({**values, "straight": True}, TIMEOUT_S))
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
        """Return a file's size, mode and time; None if it does not exist."""
        full = self._root / path.lstrip("/")
        if not full.exists():
            return None
        status = full.stat()
        return FileStat(status.st_size, status.st_mode, status.st_mtime)


class ScratchScreen:
    """A screen that shows a sequence of frames and then keeps the last one.

    Args:
        frames: uint8 arrays (H, W, 3), RGB; at least one before `capture`.
        clock: clock for the duration of frames.
        frame_s: duration of each frame; 0 for one capture.
    """

    def __init__(self, frames: list[Pixels], clock: Clock, frame_s: float) -> None:
        self._frames = frames
        self._clock = clock
        self._frame_s = frame_s
        self._start_s = clock.monotonic_s()
        self._taken = 0

    def capture(self) -> Pixels:
        """Return the current frame."""
        number = self._taken
        if self._frame_s:
            number = int((self._clock.monotonic_s() - self._start_s) / self._frame_s)
        self._taken += 1
        return self._frames[min(number, len(self._frames) - 1)]

    def size(self) -> tuple[int, int]:
        """Return width and height in px."""
        height, width = self._frames[0].shape[:2]
        return width, height


class ScratchMachine:
    """A machine that has only files and a screen.

    Args:
        root: stands for ``/``.
        frames: see `ScratchScreen`.
        clock: see `ScratchScreen`.
        frame_s: see `ScratchScreen`.
        kind: kind of the machine.
    """

    def __init__(
        self,
        root: Path,
        frames: list[Pixels],
        clock: Clock | None = None,
        frame_s: float = 0.0,
        *,
        kind: str = DESKTOP,
    ) -> None:
        self.info = MachineInfo(
            machine_id="scratch",
            kind=kind,
            backend="fake",
            image="scratch",
            image_digest="0" * 64,
            accelerator="none",
            user=USER,
            home=f"/home/{USER}",
        )
        self.files = ScratchFiles(root)
        self.screen = ScratchScreen(frames, clock or FakeClock(), frame_s)


class MachineFixture(DesktopFixture):
    """A machine whose files and screen are evaluated on the host.

    Attributes:
        frames: frames that its screen shows, in sequence.
        frame_s: duration of each frame; 0 for one capture.
    """

    views: ClassVar[ViewSource | None] = None
    """Source of views of documents; None for the renderer that is built for the process's settings."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.frames: list[Pixels] = []
        self.frame_s = 0.0

    def subject(self) -> Any:  # noqa: ANN401 - a MachineView, whereas DesktopFixture returns a guest
        """Create a view with an empty cache."""
        clock = FakeClock()
        return MachineView(
            ScratchMachine(self.folder, self.frames, clock, self.frame_s),
            timeout_s=TIMEOUT_S,
            views=self.views,
            clock=clock,
        )

    def draw(self, *frames: Pixels) -> None:
        """Append frames to the sequence of the screen."""
        self.frames.extend(frames)

    def state_mutations(self) -> list[StateMutation]:
        """Return mutations of each file and of the screen."""
        mutations = super().state_mutations()
        if self.frames:
            mutations += [
                ("screen: black", partial(self._redraw, np.zeros_like)),
                ("screen: mirrored", partial(self._redraw, lambda frame: frame[:, ::-1])),
                ("screen: moved", partial(self._redraw, lambda frame: np.roll(frame, _SHIFT_PX))),
                ("screen: inverted", partial(self._redraw, lambda frame: 255 - frame)),
            ]
        return mutations

    def _redraw(self, how: Callable[[Pixels], Pixels]) -> None:
        self.frames[:] = [np.ascontiguousarray(how(frame)) for frame in self.frames]
