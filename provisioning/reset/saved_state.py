"""What a reset is verified by, kept beside what it brings back: a digest and a picture."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.base.clock import wait_until
from appliance.base.errors import GuestCallError, MachineStartError, SnapshotError
from appliance.base.files import write_atomic
from provisioning.links.guest_io import LinkTree
from provisioning.reset.digests import StateDigest, take_digest
from provisioning.reset.picture import MAX_MASKED_RATIO, Picture, clock_bounds, watch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from appliance.base.clock import Clock
    from provisioning.protocols import Element, Link, Screen
    from provisioning.reset.windows import WindowState

MAX_NAMED = 20
"""Differences that an error names."""

_MAX_LINE = 400
_QUIET_WINDOW_S = 4.0
_TREE_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class SavedState:
    """A desktop as it must be after a reset.

    Attributes:
        digest: what the probe tells.
        picture: what the screen shows.
    """

    digest: StateDigest
    picture: Picture

    def write(self, path: Path) -> None:
        """Keep it, the digest last: where it is, the picture is too.

        Args:
            path: of the digest, ``.json``; the picture goes beside it.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self.picture.write(picture_path(path))
        write_atomic(path, self.digest.model_dump_json())

    @classmethod
    def read(cls, path: Path) -> SavedState:
        """Read what was kept.

        Raises:
            OSError, ValueError: there is none, it is damaged, or an older probe's.
        """
        digest = StateDigest.model_validate_json(path.read_bytes())
        return cls(digest, Picture.read(picture_path(path)))

    def wait_for(
        self, link: Link, screen: Screen, *, timeout_s: float, every_s: float, clock: Clock
    ) -> tuple[str, ...]:
        """Wait until a desktop is as this says; tell what differs still when time is up.

        Its picture is taken once nothing else differs.

        Args:
            link: to the probe.
            screen: of the machine.
            timeout_s: the most that is waited.
            every_s: pause between two looks.
            clock: waits.

        Raises:
            LinkError: the probe does not answer.
        """
        differences: tuple[str, ...] = ()

        def is_as_told() -> bool:
            nonlocal differences
            differences = self.digest.differences(take_digest(link))
            differences = differences or self.picture.differences(screen.capture())
            return not differences

        wait_until(is_as_told, timeout_s=timeout_s, every_s=every_s, clock=clock)
        return differences

    def require_provable(self, name: str) -> None:
        """Refuse a state that no reset could be compared with.

        Args:
            name: of the machine.

        Raises:
            SnapshotError: it was not seen whole, or most of the screen moves.
        """
        trouble = self.digest.differences(self.digest)
        if self.picture.masked_ratio > MAX_MASKED_RATIO:
            trouble += (f"screen: {self.picture.masked_ratio:.0%} of it changes on its own",)
        if trouble:
            raise SnapshotError(
                f"{name} cannot be saved: going back to it could not be verified.",
                details="\n".join(trouble),
                resolution="Let it come to rest: close what plays, wait for what does not answer.",
            )


def learn(link: Link, screen: Screen, *, name: str, timeout_s: float, clock: Clock) -> SavedState:
    """Return the state of a desktop once two looks some seconds apart agree.

    Args:
        link: to the probe.
        screen: of the machine.
        name: of the machine, for errors.
        timeout_s: the most that is waited.
        clock: waits.

    Raises:
        MachineStartError: it does not come to rest in time.
        SnapshotError: it does, but most of its screen moves.
        LinkError: the probe does not answer.
    """

    def look_twice() -> StateDigest | None:
        before = take_digest(link)
        clock.sleep(_QUIET_WINDOW_S)
        after = take_digest(link)
        return None if before.differences(after) else after

    digest = wait_until(look_twice, timeout_s=timeout_s, every_s=0.0, clock=clock)
    if digest is None:
        raise MachineStartError(f"{name} did not come to rest within {timeout_s:g} s.")
    picture = watch_desktop(link, screen, digest.windows, clock=clock)
    state = SavedState(digest, picture)
    state.require_provable(name)
    return state


def watch_desktop(
    link: Link, screen: Screen, windows: Sequence[WindowState], *, clock: Clock
) -> Picture:
    """Take the picture of a desktop, without its clocks and whatever moves within some seconds.

    Args:
        link: to the probe, whose accessibility tree tells where the clocks are.
        screen: of the machine.
        windows: that it has.
        clock: waits.

    Raises:
        LinkError: the probe does not answer.
        MachineError: there is no picture.
    """
    elements: Sequence[Element] = ()
    with contextlib.suppress(GuestCallError):  # no bus: the panels are left out as a whole
        elements = LinkTree(link, timeout_s=_TREE_TIMEOUT_S).elements()
    return watch(screen, left_out=clock_bounds(windows, elements), clock=clock)


def picture_path(path: Path) -> Path:
    """Return where the picture of a digest is."""
    return path.with_suffix(".npy")


def tell(differences: tuple[str, ...]) -> str:
    """Put differences into the details of an error, one a line, the first of them."""
    return "\n".join(line[:_MAX_LINE] for line in differences[:MAX_NAMED])
