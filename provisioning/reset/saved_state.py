"""The state that a reset is verified against: a digest and a picture, stored with the snapshot."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from foundation.clock import wait_until
from foundation.errors import GuestCallError, MachineStartError, SnapshotError
from foundation.files import write_atomic
from foundation.logging import suppress_logged
from provisioning.links.guest_io import LinkTree
from provisioning.reset.digests import StateDigest, take_digest
from provisioning.reset.picture import MAX_MASKED_RATIO, Picture, clock_bounds, watch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from foundation.clock import Clock
    from provisioning.protocols import Element, Link, Screen
    from provisioning.reset.windows import WindowState

_log = logging.getLogger(__name__)

MAX_NAMED = 20
"""Maximum number of differences that an error lists."""

_MAX_LINE = 400
_QUIET_WINDOW_S = 4.0
_TREE_TIMEOUT_S = 60.0


class _Record(BaseModel):
    """A saved state on disk, without the picture."""

    model_config = ConfigDict(frozen=True, strict=True)

    digest: StateDigest
    fingerprint: str


@dataclass(frozen=True, slots=True)
class SavedState:
    """The state that a desktop must have after a reset.

    Attributes:
        digest: state that the probe reports.
        picture: content of the screen.
        fingerprint: digest of the data that the state was read from; an equal one after a reset means
            an equal state. Empty if the state can only be compared by its digest.
    """

    digest: StateDigest
    picture: Picture
    fingerprint: str = ""

    def write(self, path: Path) -> None:
        """Write the state, the digest last: if the digest exists, so does the picture.

        Args:
            path: path of the digest, ``.json``; the picture is stored next to it.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self.picture.write(picture_path(path))
        record = _Record(digest=self.digest, fingerprint=self.fingerprint)
        write_atomic(path, record.model_dump_json())

    @classmethod
    def read(cls, path: Path) -> SavedState:
        """Read a saved state.

        Raises:
            OSError, ValueError: the state is missing, damaged, or of an older probe.
        """
        record = _Record.model_validate_json(path.read_bytes())
        return cls(record.digest, Picture.read(picture_path(path)), record.fingerprint)

    def wait_for(
        self, link: Link, screen: Screen, *, timeout_s: float, every_s: float, clock: Clock
    ) -> tuple[str, ...]:
        """Wait until a desktop matches this state; return the differences left at the timeout.

        The screen is compared once nothing else differs.

        Args:
            link: link to the probe.
            screen: screen of the machine.
            timeout_s: maximum time to wait.
            every_s: pause between two checks.
            clock: clock used for waits.

        Raises:
            LinkError: the probe does not answer.
        """
        differences: tuple[str, ...] = ()

        def matches() -> bool:
            nonlocal differences
            differences = self.digest.differences(take_digest(link))
            differences = differences or self.picture.differences(screen.capture())
            return not differences

        wait_until(matches, timeout_s=timeout_s, every_s=every_s, clock=clock)
        return differences

    def require_provable(self, name: str) -> None:
        """Check that a reset to this state can be verified.

        Args:
            name: name of the machine.

        Raises:
            SnapshotError: a part of the state could not be read, or most of the screen changes.
        """
        trouble = self.digest.differences(self.digest)
        if self.picture.masked_ratio > MAX_MASKED_RATIO:
            trouble += (f"screen: {self.picture.masked_ratio:.0%} of it changes on its own",)
        if trouble:
            raise SnapshotError(
                f"{name} cannot be saved: a reset to this state could not be verified.",
                details="\n".join(trouble),
                resolution="Wait until the desktop is idle: close animations and videos, and wait for "
                "programs that do not respond.",
            )


def learn(link: Link, screen: Screen, *, name: str, timeout_s: float, clock: Clock) -> SavedState:
    """Return the state of a desktop once it does not change for some seconds.

    Args:
        link: link to the probe.
        screen: screen of the machine.
        name: name of the machine, for errors.
        timeout_s: maximum time to wait.
        clock: clock used for waits.

    Raises:
        MachineStartError: the desktop does not become idle in time.
        SnapshotError: most of its screen changes on its own.
        LinkError: the probe does not answer.
    """

    def take_stable_digest() -> StateDigest | None:
        before = take_digest(link)
        clock.sleep(_QUIET_WINDOW_S)
        after = take_digest(link)
        return None if before.differences(after) else after

    digest = wait_until(take_stable_digest, timeout_s=timeout_s, every_s=0.0, clock=clock)
    if digest is None:
        raise MachineStartError(
            f"{name} did not become idle within {timeout_s:g} s.",
            details="Its files, settings, processes, windows or clipboards kept changing.",
            resolution="Run `mesocosm doctor` to check the host, and try again when its load is low.",
        )
    picture = watch_desktop(link, screen, digest.windows, clock=clock)
    state = SavedState(digest, picture)
    state.require_provable(name)
    return state


def watch_desktop(
    link: Link, screen: Screen, windows: Sequence[WindowState], *, clock: Clock
) -> Picture:
    """Take the picture of a desktop, excluding its clocks and pixels that change within seconds.

    Args:
        link: link to the probe, whose accessibility tree locates the clocks.
        screen: screen of the machine.
        windows: windows of the desktop.
        clock: clock used for waits.

    Raises:
        LinkError: the probe does not answer.
        MachineError: no screenshot could be taken.
    """
    elements: Sequence[Element] = ()
    # Without an accessibility bus the whole panels are excluded.
    with suppress_logged(_log, "read the tree of a desktop", GuestCallError):
        elements = LinkTree(link, timeout_s=_TREE_TIMEOUT_S).elements()
    return watch(screen, left_out=clock_bounds(windows, elements), clock=clock)


def picture_path(path: Path) -> Path:
    """Return the path of a digest's picture."""
    return path.with_suffix(".npy")


def format_differences(differences: tuple[str, ...]) -> str:
    """Format the first `MAX_NAMED` differences for the details of an error, one per line."""
    return "\n".join(line[:_MAX_LINE] for line in differences[:MAX_NAMED])
