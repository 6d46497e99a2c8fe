"""Review a desktop that has come to rest: what is wrong with it, and what has changed."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PIL import Image

from appliance.base.clock import SYSTEM_CLOCK, wait_until
from appliance.base.errors import DesktopFaultyError
from provisioning.links.guest_io import LinkTree
from provisioning.reset.digests import take_digest
from provisioning.reset.picture import clock_bounds
from provisioning.review.appearance import read_appearance
from provisioning.review.reviewed import MAX_CHANGED_RATIO, changed_ratio, read_reviewed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from appliance.base.clock import Clock
    from provisioning.protocols import Element, Frame, Link, Machine
    from provisioning.reset.windows import WindowState

_LOG = logging.getLogger(__name__)
# A desktop that has just come up has much to tell for the first time.
_TREE_TIMEOUT_S = 60.0
_DIGEST_TIMEOUT_S = 30.0
# On a slow host a desktop comes to rest before all that it shows has told its accessibility tree.
_WHOLE_TIMEOUT_S = 90.0
_LOOK_EVERY_S = 3.0
_INTERRUPTING_ROLES = frozenset({"alert", "dialog", "file chooser", "notification"})
_INTERRUPTING_KINDS = frozenset({"dialog", "splash", "notification"})
EXPECTED_KINDS = (("dock", 2, "panels"), ("desktop", 1, "desktop"))
"""Kind of window, how many of it every desktop of ours has, and what they are called."""

EXPECTED_ICONS = ("Home", "Trash")


@dataclass(frozen=True, slots=True)
class Review:
    """What was found on a desktop.

    Attributes:
        faults: one line each; with any of them it must not be lent.
        warnings: one line each; what it shows is not what was reviewed, which may be right.
        frame: what it showed, uint8 array (H, W, 3), RGB.
    """

    faults: tuple[str, ...]
    warnings: tuple[str, ...]
    frame: Frame

    def require_faultless(self, name: str, picture: Path) -> None:
        """Refuse a desktop with faults, its picture kept.

        Args:
            name: of the machine.
            picture: where its picture is written, PNG.

        Raises:
            DesktopFaultyError: it has faults.
        """
        if not self.faults:
            return
        picture.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(self.frame).save(picture)
        raise DesktopFaultyError(
            f"{name} is not fit to be saved: {self.faults[0]}.",
            details="\n".join((*self.faults, *self.warnings, f"It looks like this: {picture}")),
            resolution="`mesocosm image build desktop --force` builds its image anew; if that has "
            "the same fault, choose another with MESOCOSM_DISTRIBUTION.",
        )


def review_desktop(machine: Machine, *, clock: Clock = SYSTEM_CLOCK) -> Review:
    """Review a desktop that has come to rest, once it is whole or 90 s have gone by.

    Args:
        machine: the desktop.
        clock: waits.

    Raises:
        LinkError: the probe does not answer, or the tree or the toolkit cannot be asked.
        MachineError: there is no picture.
    """
    image = machine.info.image
    windows, elements = look_until_whole(machine.link, clock)
    frame = machine.screen.capture()
    faults = (
        *find_interruptions(windows, elements),
        *find_missing_windows(windows, elements),
        *read_appearance(machine).faults(),
    )
    warnings = (
        *find_missing_icons(elements),
        *compare_picture(frame, windows, elements, image=image),
    )
    for line in (*faults, *warnings):
        _LOG.warning("review of %s: %s", image, line)
    return Review(faults, warnings, frame)


def look_until_whole(link: Link, clock: Clock) -> tuple[Sequence[WindowState], Sequence[Element]]:
    """Return a desktop's windows and accessibility tree, once nothing is missing or after 90 s.

    Args:
        link: to the probe.
        clock: waits.

    Raises:
        LinkError: the probe does not answer.
    """
    windows: Sequence[WindowState] = ()
    elements: Sequence[Element] = ()

    def is_whole() -> bool:
        nonlocal windows, elements
        windows = take_digest(link, timeout_s=_DIGEST_TIMEOUT_S).windows
        elements = LinkTree(link, timeout_s=_TREE_TIMEOUT_S).elements()
        return not (find_missing_windows(windows, elements) or find_missing_icons(elements))

    wait_until(is_whole, timeout_s=_WHOLE_TIMEOUT_S, every_s=_LOOK_EVERY_S, clock=clock)
    return windows, elements


def find_interruptions(
    windows: Sequence[WindowState], elements: Sequence[Element]
) -> tuple[str, ...]:
    """Return one line for each dialog or alert that would take what an agent types.

    Args:
        windows: of the desktop.
        elements: its accessibility tree.
    """
    lines = [
        f"a {window.kind} is open: {window}"
        for window in windows
        if window.kind in _INTERRUPTING_KINDS
    ]
    lines += [
        f"the tree holds the {element.role} {element.name!r}"
        for element in elements
        if element.role in _INTERRUPTING_ROLES
    ]
    return tuple(lines)


def find_missing_windows(
    windows: Sequence[WindowState], elements: Sequence[Element]
) -> tuple[str, ...]:
    """Return one line for each part that every desktop of ours has and this one lacks.

    Args:
        windows: of the desktop.
        elements: its accessibility tree.
    """
    lines = []
    for kind, wanted, name in EXPECTED_KINDS:
        count = sum(window.kind == kind for window in windows)
        if count < wanted:
            lines.append(f"windows missing: {count} of {wanted} {name}")
    docks = [window for window in windows if window.kind == "dock"]
    whole = [(dock.geometry[2], dock.geometry[3]) for dock in docks]
    clocks = [
        box
        for box in clock_bounds(windows, elements)
        if (box.right - box.left, box.bottom - box.top) not in whole
    ]
    if docks and not clocks:
        lines.append("the panel has no clock")
    return tuple(lines)


def find_missing_icons(elements: Sequence[Element]) -> tuple[str, ...]:
    """Return one line for each icon that the desktop itself lacks.

    On a host too slow to start the trash's service in time, the session goes on without its icon.

    Args:
        elements: the accessibility tree.
    """
    shown = {element.name for element in elements}
    return tuple(
        f"the desktop has no icon called {name}" for name in EXPECTED_ICONS if name not in shown
    )


def compare_picture(
    frame: Frame, windows: Sequence[WindowState], elements: Sequence[Element], *, image: str
) -> tuple[str, ...]:
    """Return a line when the picture is not the one that was reviewed, clocks left out.

    Args:
        frame: uint8 array (H, W, 3), RGB.
        windows: of the desktop.
        elements: its accessibility tree.
        image: label of what it was made from.
    """
    reviewed = read_reviewed(image)
    if reviewed is None:
        return (f"nobody has reviewed a picture of {image}",)
    ratio = changed_ratio(reviewed, frame, clock_bounds(windows, elements))
    if ratio <= MAX_CHANGED_RATIO:
        return ()
    return (f"the picture differs from the reviewed one of {image} in {ratio:.1%} of its pixels",)
