"""What the fake desktop and the fake phone share: power, snapshots, files, link."""

from __future__ import annotations

import copy
import stat
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from appliance.base.errors import GuestCallError, LinkClosedError, SnapshotMissingError
from appliance.base.process import CommandResult
from provisioning.fake.faults import Faults
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

    from appliance.base.clock import Clock
    from provisioning.protocols import Element, Input, StateSummary


_KEPT = 1000


@dataclass(slots=True)
class FakeFile:
    """One file: content, permission bits, seconds since the epoch, and whose it is."""

    data: bytes
    mode: int
    mtime_s: float
    owner: str = "user"


@dataclass(slots=True)
class FakeState:
    """All that a snapshot keeps.

    Attributes:
        files: by path.
        pointer: where it is, px.
        hindrance: what keeps evaluators from answering.
        received: the last clicks, drags and turns of the wheel, oldest first.
    """

    files: dict[str, FakeFile] = field(default_factory=dict)
    pointer: tuple[int, int] = (0, 0)
    hindrance: str = ""
    received: deque[tuple[object, ...]] = field(default_factory=lambda: deque(maxlen=_KEPT))


S = TypeVar("S", bound=FakeState)


class FakeMachine(ABC, Generic[S]):
    """A machine in memory; it is its own power, snapshots, link, files, screen and tree.

    Args:
        info: what it says it is.
        state: what it starts from; copied.
        clock: stamps files.
        reset_s: what a rewind claims to take.

    Attributes:
        tells_stillness: whether it says that its screen is still; else its screen is watched for a
            while after each action, as that of a real machine.
    """

    tells_stillness: ClassVar[bool] = False

    def __init__(self, info: MachineInfo, state: S, clock: Clock, *, reset_s: float = 0.0) -> None:
        self._info = info
        self.state = copy.deepcopy(state)
        self.clock = clock
        self.faults = Faults()
        self._reset_s = reset_s
        self._saved: dict[str, S] = {}
        self._running = True
        self._end: End | None = None

    @property
    def info(self) -> MachineInfo:
        """What it is."""
        return self._info

    @property
    def power(self) -> FakeMachine[S]:
        """Start and stop it."""
        return self

    @property
    def snapshots(self) -> FakeMachine[S]:
        """Save and rewind it."""
        return self

    @property
    def link(self) -> FakeMachine[S]:
        """Talk to the probe inside."""
        return self

    @property
    def files(self) -> FakeMachine[S]:
        """Read and write its files."""
        return self

    @property
    def screen(self) -> FakeMachine[S]:
        """See it."""
        return self

    @property
    def tree(self) -> FakeMachine[S]:
        """Read its UI."""
        return self

    @property
    @abstractmethod
    def input(self) -> Input:
        """Act on it."""

    def delete(self) -> None:
        """Forget everything."""
        self.stop()
        self._saved.clear()

    def start(self) -> None:
        """Run again, in the state it was stopped in."""
        self.faults.check("start")
        self._running, self._end = True, None

    def stop(self) -> None:
        """Stop; harmless twice."""
        self.end(EndCause.OUTSIDE, "It was stopped.")

    def end(self, cause: EndCause, detail: str) -> None:
        """Stop for a reason that `ended_by` returns; the first one counts."""
        self._running = False
        self._end = self._end or End(cause, detail)

    def restart_itself(self) -> None:
        """Do as a guest that restarts: it answers again, and is another than before."""
        self._end = self._end or End(EndCause.GUEST, "The guest restarted itself.")

    def reported_end(self) -> End | None:
        """Return how it ended, if it did since its last start or rewind."""
        return self._end

    def ended_by(self) -> End | None:
        """Return how it ended since its last start or rewind."""
        return self._end

    def hindered_by(self) -> str:
        """Return what keeps evaluators from answering.

        Raises:
            LinkClosedError: the machine does not run.
        """
        self.require_running()
        return self.state.hindrance

    def summarize(self) -> StateSummary:
        """Return its files.

        Raises:
            LinkClosedError: it does not run.
        """
        self.faults.check("summarize")
        self.require_running()
        return {
            StateKind.FILE: {path: repr(file.data) for path, file in self.state.files.items()},
            StateKind.SETTING: {},
            StateKind.PROCESS: {},
        }

    def require_running(self) -> None:
        """Return if it runs.

        Raises:
            LinkClosedError: it does not.
        """
        if not self._running:
            raise LinkClosedError(f"{self._info.machine_id} does not run.")

    def is_running(self) -> bool:
        """Return whether it runs."""
        return self._running

    def save(self, name: str) -> None:
        """Keep a copy of the state under a name."""
        self._saved[name] = copy.deepcopy(self.state)

    def rewind(self, name: str) -> ResetReport:
        """Go back to a copy kept before.

        Raises:
            SnapshotMissingError: there is none of that name.
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
        """Forget one.

        Raises:
            SnapshotMissingError: there is none of that name.
        """
        self._snapshot(name)
        del self._saved[name]

    def _snapshot(self, name: str) -> S:
        if name not in self._saved:
            raise SnapshotMissingError(
                f"{self._info.machine_id} has no snapshot {name!r}.",
                details=f"It has: {', '.join(self.list_snapshots()) or 'none'}.",
            )
        return self._saved[name]

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        """Carry out one of the operations this machine knows.

        Raises:
            LinkClosedError: the machine does not run.
            GuestCallError: it knows no such operation, or the operation failed.
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
        """Run one of the commands this machine knows; unknown ones end with exit code 127.

        Raises:
            LinkClosedError: the machine does not run.
        """
        self.faults.check("run")
        if not self._running:
            raise LinkClosedError(f"{self._info.machine_id} does not run.")
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
                output = input.decode()
            case ["echo", *rest]:
                output = f"{' '.join(rest)}\n"
            case _:
                output = self.obey(command)
        if output is None:
            message = f"{command[0]}: not found\n".encode()
            return CommandResult(tuple(command), 127, b"", message)
        return CommandResult(tuple(command), 0, output.encode(), b"")

    @abstractmethod
    def obey(self, argv: list[str]) -> str | None:
        """Run a command line; returns what it prints, or None for an unknown command."""

    @abstractmethod
    def answer(self, op: str, params: dict[str, Json], timeout_s: float) -> Json:
        """Carry out an operation.

        Raises:
            GuestCallError: it knows no such operation, or the operation failed.
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
            GuestCallError: there is none.
        """
        self.faults.check("get")
        if path not in self.state.files:
            raise GuestCallError(f"No such file: {path}")
        return self.state.files[path].data

    def stat(self, path: str) -> FileStat | None:
        """Return what is known of a file; None when there is none."""
        file = self.state.files.get(path)
        if file is None:
            return None
        return FileStat(len(file.data), stat.S_IFREG | file.mode, file.mtime_s)

    @abstractmethod
    def capture(self) -> npt.NDArray[np.uint8]:
        """Draw the state: uint8 array (H, W, 3), RGB."""

    def is_still(self) -> bool | None:
        """Return True, as nothing is pending when an action returns; None where it is not told."""
        return True if self.tells_stillness else None

    @abstractmethod
    def size(self) -> tuple[int, int]:
        """Return width and height in px."""

    @abstractmethod
    def elements(self) -> Sequence[Element]:
        """Return the visible elements in document order."""
