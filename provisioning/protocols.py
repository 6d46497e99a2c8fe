"""What a machine can do, one capability a protocol.

A backend offers a capability by carrying an object of that protocol; what it cannot do it does
not carry. Every implementation passes the contract suite of its protocol in ``tests/contract``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    import numpy.typing as npt

    from appliance.base.process import CommandResult

    Frame = npt.NDArray[np.uint8]


class Stream(Protocol):
    """A connection of bytes: a socket, or an SSH channel."""

    def recv(self, nbytes: int, /) -> bytes:
        """Wait for bytes; empty at the end."""
        ...

    def sendall(self, data: bytes, /) -> object:
        """Send all of it."""
        ...

    def settimeout(self, seconds: float | None, /) -> object:
        """Bound each wait."""
        ...

    def close(self) -> object:
        """Let it go."""
        ...


Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class Kind(StrEnum):
    """What sort of device a machine is; also the role it plays in an environment by default."""

    DESKTOP = "desktop"
    PHONE = "phone"


class Button(StrEnum):
    """A pointer's button."""

    LEFT = "left"
    MIDDLE = "middle"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class FileStat:
    """What is known of a file.

    Attributes:
        size_bytes: of its content.
        mode: permission bits and type, as in ``st_mode``.
        mtime_s: seconds since the epoch.
    """

    size_bytes: int
    mode: int
    mtime_s: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """A rectangle on a screen in px, origin top left, right and bottom not included."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def center(self) -> tuple[int, int]:
        """The middle, x then y, in px."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2


@dataclass(frozen=True, slots=True)
class Element:
    """One node of an accessibility tree or UI hierarchy.

    Attributes:
        role: AT-SPI role name (``push button``) or Android class (``android.widget.Button``).
        name: what a user reads: accessible name, text, or content description.
        bounds: where it is, screen px.
        states: lower-case words such as ``focused``, ``checked``, ``clickable``, ``showing``.
        resource_id: Android's resource id; empty elsewhere.
        depth: 0 for the root; elements come in document order.
    """

    role: str
    name: str
    bounds: Bounds
    states: frozenset[str] = frozenset()
    resource_id: str = ""
    depth: int = 0


@runtime_checkable
class Power(Protocol):
    """Start and stop a machine."""

    def start(self) -> None:
        """Start it and return when its link answers.

        Raises:
            MachineStartError: it did not come up in time.
        """
        ...

    def stop(self) -> None:
        """Stop it; harmless when it does not run."""
        ...

    def is_running(self) -> bool:
        """Return whether it runs."""
        ...


class EndCause(StrEnum):
    """Who ended a machine."""

    GUEST = "guest"
    """Something inside: it shut down, was reset, panicked, or ran out of its memory."""
    OUTSIDE = "outside"
    """Its process was killed, or its host failed."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class End:
    """How a machine ended.

    Attributes:
        cause: who ended it.
        detail: what says so, one line.
    """

    cause: EndCause
    detail: str


@runtime_checkable
class EndReporting(Protocol):
    """The power of a machine that knows how it ended."""

    def ended_by(self) -> End | None:
        """Return how it ended since its last start or rewind; None when it still runs.

        A guest that restarted itself has ended. One that is shutting down is waited for.

        Raises:
            MesocosmError: whoever runs the machine does not answer.
        """
        ...


@runtime_checkable
class EndWatching(Protocol):
    """The power of a machine whose end is reported to this process."""

    def reported_end(self) -> End | None:
        """Return how it ended, if that was reported since its last start or rewind; asks nobody."""
        ...


class StateKind(StrEnum):
    """What sort of thing a trial may change."""

    FILE = "file"
    SETTING = "setting"
    PROCESS = "process"
    RECORD = "record"
    """A row of a phone's content providers."""


StateSummary = Mapping[StateKind, Mapping[str, str]]
"""A fingerprint of each thing by kind and name."""


@runtime_checkable
class StateReporting(Protocol):
    """A machine whose state can be compared between two moments."""

    def summarize(self) -> StateSummary:
        """Return what programs have left in it, without content.

        Raises:
            LinkError: the machine does not answer.
        """
        ...


@runtime_checkable
class HindranceReporting(Protocol):
    """A machine that knows what its programs do to keep evaluators from answering."""

    def hindered_by(self) -> str:
        """Return what stands in the way, one line; empty when nothing does.

        Examples: a full disk, a graphical session that ended, a user's mount, overload.

        Raises:
            MesocosmError: the machine does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class ResetReport:
    """How a rewind went.

    Attributes:
        path: ``rewind``, ``fork``, ``cold`` ...: the way back that was taken.
        seconds: from the request to verified ready.
        differences: what differs from the snapshot, one line each; empty when exact.
        phases_s: seconds by phase name, for the histograms.
    """

    path: str
    seconds: float
    differences: tuple[str, ...] = ()
    phases_s: Mapping[str, float] = field(default_factory=dict)


READY = "ready"
"""The snapshot that every lease begins from."""


@runtime_checkable
class Snapshots(Protocol):
    """Named saved states of one machine."""

    def save(self, name: str) -> None:
        """Save the whole state, RAM included; an older snapshot of that name is replaced.

        Raises:
            SnapshotError: it could not be saved.
        """
        ...

    def rewind(self, name: str) -> ResetReport:
        """Go back, set the clock and verify.

        Raises:
            SnapshotMissingError: there is no such snapshot.
            SnapshotError: going back failed; the machine must not be used.
            ResetMismatchError: the machine differs from the snapshot; it must not be used.
        """
        ...

    def list_snapshots(self) -> Sequence[str]:
        """Return the names of the snapshots, sorted."""
        ...

    def delete_snapshot(self, name: str) -> None:
        """Delete one.

        Raises:
            SnapshotMissingError: there is no such snapshot.
        """
        ...


@runtime_checkable
class Link(Protocol):
    """Requests to the probe in a guest, many at a time, from any thread."""

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        """Ask the probe for one operation and wait for its reply.

        Raises:
            LinkClosedError: the other end went away.
            LinkTimeoutError: no reply before the deadline; later calls still work.
            LinkProtocolError: the other end sent garbage or more than the bound.
            GuestCallError: the operation failed in the guest, with its words.
        """
        ...

    def close(self) -> None:
        """Let the transport go; harmless twice."""
        ...


@runtime_checkable
class Files(Protocol):
    """Whole files of a guest, byte-exact."""

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file, its folders made, so that readers see the old or the new one."""
        ...

    def get(self, path: str) -> bytes:
        """Read a file.

        Raises:
            GuestCallError: there is none, or it cannot be read.
        """
        ...

    def stat(self, path: str) -> FileStat | None:
        """Return what is known of a file; None when there is none."""
        ...


@runtime_checkable
class Screen(Protocol):
    """What a machine shows."""

    def capture(self) -> Frame:
        """Take a picture: uint8 array (H, W, 3), RGB, origin top left."""
        ...

    def size(self) -> tuple[int, int]:
        """Return width and height in px."""
        ...


@runtime_checkable
class OutsideScreen(Protocol):
    """A screen whose pictures are taken outside the guest, so that nothing in it can forge them."""

    @property
    def seen_by(self) -> str:
        """What takes them."""
        ...


@runtime_checkable
class Stillness(Protocol):
    """A screen whose machine knows whether more is coming; others do not carry it."""

    def is_still(self) -> bool | None:
        """Return whether all that input has begun is on the screen; None when nobody can tell."""
        ...


@runtime_checkable
class Load(Protocol):
    """How hard a machine works, seen from outside; machines that cannot tell do not carry it."""

    def cpu_time_s(self) -> float:
        """Return the seconds of processor time used so far, all processors together."""
        ...


@runtime_checkable
class EgressCapable(Protocol):
    """A machine without a network whose programs can be given an HTTP proxy."""

    def open_proxy(self, serve: Callable[[Stream], None]) -> AbstractContextManager[None]:
        """Offer its programs an HTTP proxy for the length of a block.

        Args:
            serve: called with each connection, in a thread of its own; closes it.

        Raises:
            LinkError: the guest cannot be reached, or lets no port be forwarded.
            MachineError: the guest does not take the proxy's settings.
        """
        ...


@runtime_checkable
class Input(Protocol):
    """Pointer, keys and text. Coordinates are screen px, origin top left."""

    def move(self, x: int, y: int) -> None:
        """Put the pointer at a place; on phones this does nothing."""
        ...

    def click(self, x: int, y: int, *, button: Button = Button.LEFT, count: int = 1) -> None:
        """Click (or tap) `count` times."""
        ...

    def drag(
        self, start: tuple[int, int], end: tuple[int, int], *, duration_s: float = 0.3
    ) -> None:
        """Press, move and release (or swipe)."""
        ...

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0) -> None:
        """Turn the wheel at a place; positive `dy` shows what is further down."""
        ...

    def key(self, *names: str) -> None:
        """Press keys together and release them.

        Args:
            names: X keysym names (``ctrl``, ``alt``, ``Return``, ``a``, ``F2``) on desktops,
                Android key names (``HOME``, ``BACK``, ``ENTER``) on phones.

        Raises:
            InvalidActionError: there is no such key.
        """
        ...

    def text(self, text: str) -> None:
        """Type any Unicode text into what has the focus."""
        ...


@runtime_checkable
class Tree(Protocol):
    """What assistive technology sees."""

    def elements(self) -> Sequence[Element]:
        """Return the visible elements in document order."""
        ...


@dataclass(frozen=True, slots=True)
class MachineInfo:
    """What a result must say about the machine it was got on.

    Nothing else may assume who the agent's user is, or where that user's files are.

    Attributes:
        machine_id: unique in this appliance.
        kind: desktop or phone.
        backend: ``libvirt``, ``reference-phone``, ``fake`` ...
        image: name of the image, such as ``desktop:debian-12``.
        image_digest: of the image.
        accelerator: ``kvm``, ``tcg`` or ``none``.
        user: login name that agents act as.
        home: that user's home folder, what ``~`` stands for.
        browser: name, version and origin of a desktop's browser; empty where none is known.
    """

    machine_id: str
    kind: Kind
    backend: str
    image: str
    image_digest: str
    accelerator: str
    user: str
    home: str
    browser: str = ""


@runtime_checkable
class Commands(Protocol):
    """Programs of a machine, run to their end."""

    def run(
        self,
        argv: Sequence[str],
        *,
        user: str | None = None,
        timeout_s: float = 10.0,
        input: bytes = b"",  # noqa: A002 - as subprocess calls it
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a program; no shell sees its words, and a non-zero exit code is a result.

        Args:
            argv: program and arguments.
            user: whose program it is; the agent's by default, with the environment of the session.
            timeout_s: after this it is killed.
            input: what it reads on standard input.
            cwd: where it starts; the user's home folder by default.
            env: added to its environment.

        Returns:
            What it left behind; of standard output and standard error 1 MiB each at most.

        Raises:
            GuestCallError: it cannot be started, or did not end in time.
            LinkError: the machine does not answer.
            UnsupportedError: this sort of machine cannot run it as that user, or give it input.
        """
        ...


@runtime_checkable
class Machine(Commands, Protocol):
    """A device an agent acts on, with what every device must offer."""

    @property
    def info(self) -> MachineInfo:
        """What it is."""
        ...

    @property
    def power(self) -> Power:
        """Start and stop it."""
        ...

    @property
    def snapshots(self) -> Snapshots:
        """Save and rewind it."""
        ...

    @property
    def link(self) -> Link:
        """Talk to the probe inside."""
        ...

    @property
    def files(self) -> Files:
        """Read and write its files."""
        ...

    @property
    def screen(self) -> Screen:
        """See it."""
        ...

    @property
    def input(self) -> Input:
        """Act on it."""
        ...

    @property
    def tree(self) -> Tree:
        """Read its UI."""
        ...

    def delete(self) -> None:
        """Stop it and remove all that it left on the host; harmless twice."""
        ...
