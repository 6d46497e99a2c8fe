"""The base class of the fake desktop and the fake phone: power, snapshots, files, link."""

from __future__ import annotations

import copy
import stat
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from foundation.errors import GuestCallError, LinkClosedError, SnapshotMissingError
from foundation.process import CommandResult
from provisioning.fake.faults import Faults
from provisioning.fake.reach import FakeReach
from provisioning.protocols import (
    End,
    EndCause,
    FileStat,
    Json,
    MachineInfo,
    ResetReport,
    StateKind,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from foundation.clock import Clock
    from provisioning.protocols import Element, Input, StateSummary


_KEPT = 1000


@dataclass(slots=True)
class FakeFile:
    """One file: content, permission bits, modification time in seconds since the epoch, and owner."""

    data: bytes
    mode: int
    mtime_s: float
    owner: str = "user"


@dataclass(slots=True)
class FakeState:
    """The state that a snapshot keeps.

    Attributes:
        files: files by path.
        pointer: position of the pointer, px.
        hindrance: what blocks evaluators.
        received: the last clicks, drags and wheel turns, oldest first.
    """

    files: dict[str, FakeFile] = field(default_factory=dict)
    pointer: tuple[int, int] = (0, 0)
    hindrance: str = ""
    received: deque[tuple[object, ...]] = field(default_factory=lambda: deque(maxlen=_KEPT))


S = TypeVar("S", bound=FakeState)


class FakeMachine(ABC, Generic[S]):
    """An in-memory machine; it is its own power, snapshots, link, files, screen and tree.

    Args:
        info: its description.
        state: its initial state; copied.
        clock: clock used for file times and rewinds.
        reset_s: reported duration of a rewind.

    Attributes:
        reach: the services that it could reach.
        reports_stillness: whether it reports that its screen is still; otherwise its screen is watched
            for a while after each action, like a real machine's.
    """

    reports_stillness: ClassVar[bool] = False

    def __init__(self, info: MachineInfo, state: S, clock: Clock, *, reset_s: float = 0.0) -> None:
        self._info = info
        self.state = copy.deepcopy(state)
        self.clock = clock
        self.faults = Faults()
        self.reach = FakeReach()
        self._reset_s = reset_s
        self._saved: dict[str, S] = {}
        self._running = True
        self._end: End | None = None

    @property
    def info(self) -> MachineInfo:
        """Return its description."""
        return self._info

    @property
    def power(self) -> FakeMachine[S]:
        """Return its power control."""
        return self

    @property
    def snapshots(self) -> FakeMachine[S]:
        """Return its snapshots."""
        return self

    @property
    def link(self) -> FakeMachine[S]:
        """Return its link."""
        return self

    @property
    def files(self) -> FakeMachine[S]:
        """Return access to its files."""
        return self

    @property
    def screen(self) -> FakeMachine[S]:
        """Return its screen."""
        return self

    @property
    def tree(self) -> FakeMachine[S]:
        """Return its accessibility tree."""
        return self

    @property
    @abstractmethod
    def input(self) -> Input:
        """Return its input devices."""

    def delete(self) -> None:
        """Stop and delete all snapshots."""
        self.stop()
        self._saved.clear()

    def start(self) -> None:
        """Start in the state in which it was stopped."""
        self.faults.check("start")
        self._running, self._end = True, None

    def stop(self) -> None:
        """Stop; may be called more than once."""
        self.end(EndCause.OUTSIDE, "The machine was stopped.")

    def end(self, cause: EndCause, detail: str) -> None:
        """Stop for a reason that `ended_by` returns; the first reason counts."""
        self._running = False
        self._end = self._end or End(cause, detail)

    def restart_itself(self) -> None:
        """Simulate a guest that restarts itself: it still answers, but counts as ended."""
        self._end = self._end or End(EndCause.GUEST, "The guest restarted itself.")

    def reported_end(self) -> End | None:
        """Return how it ended, if it did since its last start or rewind."""
        return self._end

    def ended_by(self) -> End | None:
        """Return how it ended since its last start or rewind."""
        return self._end

    def find_obstruction(self) -> str:
        """Return what blocks evaluators.

        Raises:
            LinkClosedError: the machine is not running.
        """
        self.require_running()
        return self.state.hindrance

    def summarize(self) -> StateSummary:
        """Return fingerprints of its files.

        Raises:
            LinkClosedError: the machine is not running.
        """
        self.faults.check("summarize")
        self.require_running()
        return {
            StateKind.FILE: {path: repr(file.data) for path, file in self.state.files.items()},
            StateKind.SETTING: {},
            StateKind.PROCESS: {},
        }

    def require_running(self) -> None:
        """Check that the machine is running.

        Raises:
            LinkClosedError: the machine is not running.
        """
        if not self._running:
            raise LinkClosedError(f"{self._info.machine_id} is not running.")

    def is_running(self) -> bool:
        """Return whether the machine is running."""
        return self._running

    def save(self, name: str) -> None:
        """Save a copy of the state under a name."""
        self._saved[name] = copy.deepcopy(self.state)

    def rewind(self, name: str) -> ResetReport:
        """Restore a saved copy of the state.

        Raises:
            SnapshotMissingError: the snapshot does not exist.
        """
        self.faults.check("rewind")
        self.state = copy.deepcopy(self._snapshot(name))
        self.clock.sleep(self._reset_s)
        self._running, self._end = True, None
        return ResetReport("rewind", self._reset_s, phases_s={"load": self._reset_s})

    def list_snapshots(self) -> Sequence[str]:
        """Return the names of the snapshots, sorted."""
        return sorted(self._saved)

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot.

        Raises:
            SnapshotMissingError: the snapshot does not exist.
        """
        self._snapshot(name)
        del self._saved[name]

    def _snapshot(self, name: str) -> S:
        if name not in self._saved:
            raise SnapshotMissingError(
                f"{self._info.machine_id} has no snapshot {name!r}.",
                details=f"Its snapshots: {', '.join(self.list_snapshots()) or 'none'}.",
            )
        return self._saved[name]

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        """Carry out one of the operations that this machine supports.

        Raises:
            LinkClosedError: the machine is not running.
            GuestCallError: the operation is unknown, or failed.
        """
        self.faults.check(f"call.{op}")
        self.require_running()
        return self.answer(op, dict(params or {}), timeout_s)

    def run(
        self,
        argv: Sequence[str],
        *,
        user: str | None = None,
        timeout_s: float = 10.0,
        input: bytes = b"",  # noqa: A002 - as the protocol calls it
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run one of the commands that this machine supports; unknown ones end with exit code 127.

        Raises:
            LinkClosedError: the machine is not running.
        """
        self.faults.check("run")
        if not self._running:
            raise LinkClosedError(f"{self._info.machine_id} is not running.")
        command = list(argv)
        output: str | None
        match command:
            case ["id", "-un"]:
                output = f"{user or self._info.user}\n"
            case ["pwd"]:
                output = f"{cwd or self._info.home}\n"
            case ["printenv", name]:
                output = f"{(env or {}).get(name, '')}\n"
            case ["cat"]:
                output = input.decode("utf-8", "surrogateescape")
            case ["echo", *rest]:
                output = f"{' '.join(rest)}\n"
            case _:
                output = self.run_command(command)
        if output is None:
            message = f"{command[0]}: not found\n".encode()
            return CommandResult(tuple(command), 127, b"", message)
        data = output.encode("utf-8", "surrogateescape")
        return CommandResult(tuple(command), 0, data, b"")

    @abstractmethod
    def run_command(self, argv: list[str]) -> str | None:
        """Run a command line and return its output, or None for an unknown command."""

    @abstractmethod
    def answer(self, op: str, params: dict[str, Json], timeout_s: float) -> Json:
        """Carry out an operation.

        Raises:
            GuestCallError: the operation is unknown, or failed.
        """

    def close(self) -> None:
        """Do nothing: there is no transport."""

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file."""
        self.faults.check("put")
        self.state.files[path] = FakeFile(bytes(data), mode, self.clock.now_s())

    def get(self, path: str) -> bytes:
        """Read a file.

        Raises:
            GuestCallError: the file does not exist.
        """
        self.faults.check("get")
        if path not in self.state.files:
            raise GuestCallError(f"No such file: {path}")
        return self.state.files[path].data

    def stat(self, path: str) -> FileStat | None:
        """Return the metadata of a file; None if it does not exist."""
        file = self.state.files.get(path)
        if file is None:
            return None
        return FileStat(len(file.data), stat.S_IFREG | file.mode, file.mtime_s)

    @abstractmethod
    def capture(self) -> npt.NDArray[np.uint8]:
        """Draw the state: uint8 array (H, W, 3), RGB."""

    def is_still(self) -> bool | None:
        """Return True if it reports stillness, as actions complete before they return; else None."""
        return True if self.reports_stillness else None

    @abstractmethod
    def size(self) -> tuple[int, int]:
        """Return width and height in px."""

    @abstractmethod
    def elements(self) -> Sequence[Element]:
        """Return the visible elements in document order."""
