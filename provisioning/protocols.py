"""Capabilities of a machine, one protocol per capability.

A backend offers a capability by providing an object that implements its protocol, and omits
capabilities it lacks. Every implementation passes its protocol's contract suite in
``tests/contract``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from inspect import getattr_static
from typing import TYPE_CHECKING, Protocol, TypeGuard, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    import numpy.typing as npt

    from foundation.process import CommandResult

    Frame = npt.NDArray[np.uint8]


class Stream(Protocol):
    """A byte stream: a socket, or an SSH channel."""

    def recv(self, nbytes: int, /) -> bytes:
        """Wait for bytes; return an empty string at the end of the stream."""
        ...

    def sendall(self, data: bytes, /) -> object:
        """Send all the data."""
        ...

    def settimeout(self, seconds: float | None, /) -> object:
        """Set the timeout of each operation; None means no timeout."""
        ...

    def close(self) -> object:
        """Close the connection."""
        ...


Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class Button(StrEnum):
    """A pointer button."""

    LEFT = "left"
    MIDDLE = "middle"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class FileStat:
    """Metadata of a file.

    Attributes:
        size_bytes: size of its content.
        mode: permission bits and type, as in ``st_mode``.
        mtime_s: seconds since the epoch.
    """

    size_bytes: int
    mode: int
    mtime_s: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """A rectangle on a screen in px, origin top left; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def center(self) -> tuple[int, int]:
        """Return the center as (x, y), in px."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2


@dataclass(frozen=True, slots=True)
class Element:
    """One node of an accessibility tree or UI hierarchy.

    Attributes:
        role: AT-SPI role name (``push button``) or Android class (``android.widget.Button``).
        name: text a user reads: accessible name, text, or content description.
        bounds: position and size, screen px.
        states: lower-case names such as ``focused``, ``checked``, ``clickable``, ``showing``.
        resource_id: Android resource id; empty elsewhere.
        depth: 0 for the root; elements are in document order.
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
        """Start the machine and return when its link answers.

        Raises:
            MachineStartError: the machine did not start in time.
        """
        ...

    def stop(self) -> None:
        """Stop the machine; does nothing if it is not running."""
        ...

    def is_running(self) -> bool:
        """Return whether the machine is running."""
        ...


class EndCause(StrEnum):
    """What ended a machine."""

    GUEST = "guest"
    """Something inside the guest: it shut down, was reset, panicked, or ran out of memory."""
    OUTSIDE = "outside"
    """Its process was killed, or its host failed."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class End:
    """How a machine ended.

    Attributes:
        cause: what ended it.
        detail: the evidence, one line.
    """

    cause: EndCause
    detail: str


@runtime_checkable
class EndReporting(Protocol):
    """Power control of a machine that can report how it ended."""

    def ended_by(self) -> End | None:
        """Return how the machine ended since its last start or rewind; None if it still runs.

        A guest that restarted itself counts as ended. If the guest is shutting down, this waits.

        Raises:
            MesocosmError: the hypervisor or engine that runs the machine does not answer.
        """
        ...


@runtime_checkable
class EndWatching(Protocol):
    """Power control of a machine whose end is reported to this process."""

    def reported_end(self) -> End | None:
        """Return the end reported since the last start or rewind, if any; sends no request."""
        ...


class StateKind(StrEnum):
    """The kind of state that a trial may change."""

    FILE = "file"
    SETTING = "setting"
    PROCESS = "process"
    RECORD = "record"
    """A row of one of a phone's content providers."""


StateSummary = Mapping[StateKind, Mapping[str, str]]
"""A fingerprint of each item by kind and name."""


@runtime_checkable
class StateReporting(Protocol):
    """A resource whose state can be compared between two points in time."""

    def summarize(self) -> StateSummary:
        """Return fingerprints of what programs have left in it, without content.

        Raises:
            LinkError: it does not answer.
        """
        ...


@runtime_checkable
class ObstructionReporting(Protocol):
    """A machine that can detect what its programs do to block evaluators."""

    def find_obstruction(self) -> str:
        """Return what blocks evaluators, in one line; empty if nothing does.

        Examples: a full disk, an ended graphical session, a mount made by the user, overload.

        Raises:
            MesocosmError: the machine does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class ResetReport:
    """How a rewind went.

    Attributes:
        path: reset method that was used: ``rewind``, ``fork``, ``cold`` ...
        seconds: from the request to verified ready.
        differences: what differs from the snapshot, one line each; empty when exact.
        phases_s: seconds by phase name, for the histograms.
    """

    path: str
    seconds: float
    differences: tuple[str, ...] = ()
    phases_s: Mapping[str, float] = field(default_factory=dict)


READY = "ready"
"""Name of the snapshot that every lease starts from."""


@runtime_checkable
class Snapshots(Protocol):
    """Named snapshots of one machine."""

    def save(self, name: str) -> None:
        """Save the whole state, including RAM; replaces an older snapshot of the same name.

        Raises:
            SnapshotError: the state could not be saved.
        """
        ...

    def rewind(self, name: str) -> ResetReport:
        """Restore a snapshot, set the clock and verify the machine.

        Raises:
            SnapshotMissingError: the snapshot does not exist.
            SnapshotError: restoring failed; the machine must not be used.
            ResetMismatchError: the machine differs from the snapshot; it must not be used.
        """
        ...

    def list_snapshots(self) -> Sequence[str]:
        """Return the names of the snapshots, sorted."""
        ...

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot.

        Raises:
            SnapshotMissingError: the snapshot does not exist.
        """
        ...


@runtime_checkable
class Link(Protocol):
    """A channel for concurrent requests to the probe in a guest; thread-safe."""

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        """Call one operation of the probe and wait for its reply.

        Raises:
            LinkClosedError: the other end closed the connection.
            LinkTimeoutError: no reply before the deadline; later calls still work.
            LinkProtocolError: the other end sent invalid data or more than the limit.
            GuestCallError: the operation failed in the guest; carries the guest's message.
        """
        ...

    def close(self) -> None:
        """Close the transport; may be called more than once."""
        ...


@runtime_checkable
class Files(Protocol):
    """Whole files of a guest, byte-exact."""

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file atomically, creating its parent folders."""
        ...

    def get(self, path: str) -> bytes:
        """Read a file.

        Raises:
            GuestCallError: the file does not exist or cannot be read.
        """
        ...

    def stat(self, path: str) -> FileStat | None:
        """Return the metadata of a file; None if it does not exist."""
        ...


@runtime_checkable
class Screen(Protocol):
    """The display of a machine."""

    def capture(self) -> Frame:
        """Take a screenshot: uint8 array (H, W, 3), RGB, origin top left."""
        ...

    def size(self) -> tuple[int, int]:
        """Return width and height in px."""
        ...


@runtime_checkable
class OutsideScreen(Protocol):
    """A screen captured outside the guest, so that programs in the guest cannot forge it."""

    @property
    def captured_by(self) -> str:
        """Return the name of what captures the screen."""
        ...


@runtime_checkable
class Stillness(Protocol):
    """A screen that can report whether it is still changing; other screens do not implement it."""

    def is_still(self) -> bool | None:
        """Return whether the screen shows all effects of past input; None if that is unknown."""
        ...


@runtime_checkable
class Load(Protocol):
    """A machine's load, measured outside it; machines that cannot report it do not implement it."""

    def cpu_time_s(self) -> float:
        """Return the CPU time used so far, in seconds, summed over all processors."""
        ...


@runtime_checkable
class EgressCapable(Protocol):
    """A machine without a network that can offer its programs an HTTP proxy."""

    def open_proxy(self, serve: Callable[[Stream], None]) -> AbstractContextManager[None]:
        """Offer the machine's programs an HTTP proxy for the duration of a block.

        Args:
            serve: called with each connection, in a separate thread; closes the connection.

        Raises:
            LinkError: the guest cannot be reached, or refuses to forward a port.
            MachineError: the guest does not accept the proxy settings.
        """
        ...


Endpoints = Mapping[int, tuple[str, int]]
"""Host and port of a service as this host reaches them, by the port that guests see."""


@runtime_checkable
class Reach(Protocol):
    """What a machine without a network reaches."""

    def serve(self, services: Mapping[str, Endpoints]) -> None:
        """Let the machine's programs reach exactly these services, by name, over TCP.

        Earlier services that are not among them end. A rewind of the machine breaks connections,
        and keeps what can be reached; the machine's release ends it.

        Args:
            services: endpoints by name; the name is a host name, which the machine can look up.

        Raises:
            SpecError: a name or a port cannot be used.
            LinkError: the machine does not answer.
            MachineError: the machine cannot listen for a service.
        """
        ...

    def stop(self) -> None:
        """Let the machine's programs reach no service any more; may be called more than once.

        Raises:
            LinkError: the machine does not answer.
        """
        ...


@runtime_checkable
class SudoCapable(Protocol):
    """A machine whose agent's user can get the rights of root until the next reset."""

    def grant_sudo(self, password: str) -> None:
        """Set the user's password and allow it to use sudo.

        Raises:
            LinkError: the machine does not answer.
            MachineError: the machine refuses.
        """
        ...


Point = tuple[int, int]
"""A place on a screen in px, origin top left."""


@runtime_checkable
class Input(Protocol):
    """Pointer, keys and text. Coordinates are screen px, origin top left.

    `held` names keys, as `key` does, that are held down meanwhile; phones have none.
    """

    def move(self, x: int, y: int) -> None:
        """Move the pointer to a position; does nothing on phones."""
        ...

    def click(
        self,
        x: int,
        y: int,
        *,
        button: Button = Button.LEFT,
        count: int = 1,
        held: Sequence[str] = (),
    ) -> None:
        """Click (or tap) `count` times."""
        ...

    def button_down(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Press a button at a position and keep it pressed (or put a finger down)."""
        ...

    def button_up(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Move to a position and release a button there (or lift the finger)."""
        ...

    def drag(
        self,
        path: Sequence[Point],
        *,
        button: Button = Button.LEFT,
        duration_s: float = 0.3,
        held: Sequence[str] = (),
    ) -> None:
        """Press at the first point, move along the others and release at the last (or swipe).

        Args:
            path: at least two points; on phones, two equal ones are a long tap.
            button: the button; phones have none.
            duration_s: time between press and release, seconds.
            held: keys held down meanwhile.
        """
        ...

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0, held: Sequence[str] = ()) -> None:
        """Turn the wheel at a position; positive `dy` scrolls down, positive `dx` right."""
        ...

    def key(self, *names: str, hold_s: float = 0.0) -> None:
        """Press keys together, then release them.

        Args:
            names: X keysym names (``ctrl``, ``alt``, ``Return``, ``a``, ``F2``) on desktops,
                Android key names (``HOME``, ``BACK``, ``ENTER``) on phones.
            hold_s: time between press and release, seconds; on phones, any is a long press.

        Raises:
            InvalidActionError: a key does not exist.
        """
        ...

    def key_down(self, *names: str) -> None:
        """Press keys and keep them pressed.

        Raises:
            InvalidActionError: a key does not exist, or cannot be kept pressed on this machine.
        """
        ...

    def key_up(self, *names: str) -> None:
        """Release keys in reverse.

        Raises:
            InvalidActionError: a key does not exist, or cannot be kept pressed on this machine.
        """
        ...

    def text(self, text: str) -> None:
        """Type any Unicode text into the focused element."""
        ...


@runtime_checkable
class MultiTouch(Protocol):
    """Input of a screen that several fingers touch."""

    def gesture(self, paths: Sequence[Sequence[Point]], *, duration_s: float = 0.3) -> None:
        """Put several fingers down at once, move each along its path, and lift them together.

        Args:
            paths: the points of each finger, at least two each, screen px.
            duration_s: time between down and up, seconds.

        Raises:
            InvalidActionError: this phone does not let its touchscreen be driven.
        """
        ...


@runtime_checkable
class Tree(Protocol):
    """The accessibility tree of a machine."""

    def elements(self) -> Sequence[Element]:
        """Return the visible elements in document order."""
        ...


@runtime_checkable
class TreeCaching(Protocol):
    """Trees whose machine notes whether they have changed."""

    def recent_elements(self) -> Sequence[Element]:
        """Return the visible elements in document order, read again only if they may have changed."""
        ...


@dataclass(frozen=True, slots=True)
class Search:
    """Result of a search in a tree.

    Attributes:
        elements: the matching visible elements, in document order.
        cut: why there may be more: ``nodes``, ``time``, ``silent`` (a program did not answer); empty if
            the whole tree was searched.
    """

    elements: Sequence[Element]
    cut: str = ""


@runtime_checkable
class TreeSearching(Protocol):
    """Trees that are searched on the machine, which visits more elements than it returns."""

    def search(self, *, name: str | None, role: str | None, count: int = 1) -> Search:
        """Return the visible elements with a name and role; None matches any.

        First those in open menus and dialogs, then in the active window, then others.

        Args:
            name: exact name.
            role: exact role.
            count: once so many are found, less important ones are not searched.

        Raises:
            LinkError: the machine did not answer, or its answer is invalid.
        """
        ...


@dataclass(frozen=True, slots=True)
class MachineInfo:
    """The description of a machine, or of another resource, that results record.

    Other code must not make assumptions about the agent's user or that user's home folder.

    Attributes:
        machine_id: unique in this appliance.
        kind: ``desktop``, ``phone``, or another name in `provisioning.registry`.
        backend: ``libvirt``, ``reference-phone``, ``fake`` ...
        image: name of the image, such as ``desktop:debian-12``.
        image_digest: digest of the image.
        accelerator: ``kvm``, ``tcg`` or ``none``.
        user: login name that agents act as.
        home: that user's home folder, which ``~`` stands for.
        browser: name, version and origin of a desktop's browser; empty if unknown.
        is_hand_made: whether its image, or a parent of it, was saved from a machine by hand.
    """

    machine_id: str
    kind: str
    backend: str
    image: str
    image_digest: str
    accelerator: str
    user: str
    home: str
    browser: str = ""
    is_hand_made: bool = False


@runtime_checkable
class Commands(Protocol):
    """Runs programs in a machine to completion."""

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
        """Run a program without a shell; a non-zero exit code is a result, not an error.

        Args:
            argv: program and arguments.
            user: user to run it as; by default the agent's, with the session's environment.
            timeout_s: after this time, the program is killed.
            input: its standard input.
            cwd: its working directory; the user's home folder by default.
            env: variables to add to its environment.

        Returns:
            Exit code and output; at most 1 MiB each of standard output and standard error.

        Raises:
            GuestCallError: the program cannot be started, or did not end in time.
            LinkError: the machine does not answer.
            UnsupportedError: this kind of machine cannot run it as that user, or pass it input.
        """
        ...


class Reachable(Protocol):
    """A resource that is reached over TCP."""

    @property
    def endpoints(self) -> Endpoints:
        """Return the host and port, on the appliance's host, behind each port that guests see."""
        ...


class NamedService(Reachable, Protocol):
    """A resource that is reached by further names than that of its role."""

    @property
    def host_names(self) -> Sequence[str]:
        """Return these names, in lower case."""
        ...


@runtime_checkable
class Resource(Protocol):
    """What a lease provides for a role: a machine, or something without screen and input.

    A resource that is reached over TCP is also `Reachable`.
    """

    @property
    def info(self) -> MachineInfo:
        """Return its description."""
        ...

    @property
    def power(self) -> Power:
        """Return its power control."""
        ...

    @property
    def snapshots(self) -> Snapshots:
        """Return its snapshots."""
        ...

    def delete(self) -> None:
        """Stop the resource and remove all its files on the host; may be called more than once."""
        ...


class Machine(Commands, Resource, Protocol):
    """A device an agent acts on, with the capabilities that every device has."""

    @property
    def link(self) -> Link:
        """Return the link to its probe."""
        ...

    @property
    def reach(self) -> Reach:
        """Return which services it reaches, as it has no network."""
        ...

    @property
    def files(self) -> Files:
        """Return access to its files."""
        ...

    @property
    def screen(self) -> Screen:
        """Return its screen."""
        ...

    @property
    def input(self) -> Input:
        """Return its input devices."""
        ...

    @property
    def tree(self) -> Tree:
        """Return its accessibility tree."""
        ...


def is_machine(resource: Resource) -> TypeGuard[Machine]:
    """Return whether a resource is a device that an agent can act on: whether it has a screen."""
    return getattr_static(resource, "screen", None) is not None
