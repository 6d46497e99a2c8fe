"""Reviews an idle desktop: its faults, and changes from the reviewed picture."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PIL import Image

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import DesktopFaultyError, LinkTimeoutError
from provisioning.links.guest_io import LinkTree
from provisioning.reset.digests import take_digest
from provisioning.reset.picture import clock_bounds
from provisioning.review.appearance import read_appearance
from provisioning.review.icons import find_frozen_icons
from provisioning.review.reviewed import MAX_CHANGED_RATIO, changed_ratio, read_reviewed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from foundation.clock import Clock
    from provisioning.protocols import Element, Frame, Link, Machine
    from provisioning.reset.windows import WindowState

_LOG = logging.getLogger(__name__)
# The first replies of a desktop that has just started are large.
_TREE_TIMEOUT_S = 60.0
_DIGEST_TIMEOUT_S = 30.0
# On a slow host, a desktop is idle before all its programs have published their accessibility tree.
_WHOLE_TIMEOUT_S = 90.0
_LOOK_EVERY_S = 3.0
_INTERRUPTING_ROLES = frozenset({"alert", "dialog", "file chooser", "notification"})
_INTERRUPTING_KINDS = frozenset({"dialog", "splash", "notification"})
EXPECTED_KINDS = (("dock", 2, "panels"), ("desktop", 1, "desktop"))
"""Window kind, minimum count on every desktop of the appliance, and name for messages."""

EXPECTED_ICONS = ("Home", "Trash")


@dataclass(frozen=True, slots=True)
class Review:
    """The result of a review.

    Attributes:
        faults: one line each; a desktop with faults must not be leased.
        warnings: one line each; differences from the reviewed picture, which may be correct.
        frame: the desktop's screenshot, uint8 array (H, W, 3), RGB.
        changed_ratio: share of pixels that differ from the reviewed picture, clocks excluded; None
            if there is no reviewed picture.
    """

    faults: tuple[str, ...]
    warnings: tuple[str, ...]
    frame: Frame
    changed_ratio: float | None = None

    def require_faultless(self, name: str, picture: Path) -> None:
        """Reject a desktop with faults, and save its screenshot.

        Args:
            name: name of the machine.
            picture: path of the screenshot to write, PNG.

        Raises:
            DesktopFaultyError: the desktop has faults.
        """
        if not self.faults:
            return
        picture.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(self.frame).save(picture)
        raise DesktopFaultyError(
            f"{name} has faults and was not saved: {self.faults[0]}.",
            details="\n".join((*self.faults, *self.warnings, f"Screenshot: {picture}")),
            resolution="Run `mesocosm image build desktop --force` to rebuild its image. If the fault "
            "persists, choose another distribution with MESOCOSM_DISTRIBUTION.",
        )


def review_desktop(
    machine: Machine,
    *,
    reviewed: Frame | None = None,
    warns_of_picture: bool = True,
    clock: Clock = SYSTEM_CLOCK,
) -> Review:
    """Review an idle desktop once it is complete, or after 90 s.

    Args:
        machine: the desktop.
        reviewed: the reviewed picture, uint8 array (H, W, 3), RGB; by default that of its image.
        warns_of_picture: False if somebody else judges how the picture differs from it.
        clock: clock used for waits.

    Raises:
        LinkError: the probe does not answer, or the tree or the toolkit cannot be queried.
        MachineError: no screenshot could be taken.
    """
    image = machine.info.image
    windows, elements = wait_until_complete(machine.link, clock)
    frozen = find_frozen_icons(machine, clock=clock)
    frame = machine.screen.capture()
    faults = (
        *find_interruptions(windows, elements),
        *find_missing_windows(windows, elements),
        *read_appearance(machine).faults(),
        *frozen,
    )
    if reviewed is None:
        reviewed = read_reviewed(image)
    ratio = None
    if reviewed is not None:
        ratio = changed_ratio(reviewed, frame, clock_bounds(windows, elements))
    picture = describe_picture(ratio, image=image) if warns_of_picture else ()
    warnings = (*find_missing_icons(elements), *picture)
    for line in (*faults, *warnings):
        _LOG.warning("review of %s: %s", image, line)
    return Review(faults, warnings, frame, ratio)


def wait_until_complete(
    link: Link, clock: Clock
) -> tuple[Sequence[WindowState], Sequence[Element]]:
    """Return a desktop's windows and accessibility tree once they are complete, or after 90 s.

    Args:
        link: link to the probe.
        clock: clock used for waits.

    Raises:
        LinkError: the probe does not answer, or cannot read the windows.
    """
    windows: Sequence[WindowState] = ()
    elements: Sequence[Element] = ()
    unseen = ""

    def is_whole() -> bool:
        nonlocal windows, elements, unseen
        digest = take_digest(link, timeout_s=_DIGEST_TIMEOUT_S)
        windows, unseen = digest.windows, digest.unseen
        elements = LinkTree(link, timeout_s=_TREE_TIMEOUT_S).elements()
        missing = find_missing_windows(windows, elements) or find_missing_icons(elements)
        return not (unseen or missing)

    wait_until(is_whole, timeout_s=_WHOLE_TIMEOUT_S, every_s=_LOOK_EVERY_S, clock=clock)
    if unseen:
        raise LinkTimeoutError("The windows of the desktop could not be read.", details=unseen)
    return windows, elements


def find_interruptions(
    windows: Sequence[WindowState], elements: Sequence[Element]
) -> tuple[str, ...]:
    """Return one line for each dialog or alert that would receive an agent's input.

    Args:
        windows: windows of the desktop.
        elements: its accessibility tree.
    """
    lines = [
        f"a {window.kind} is open: {window}"
        for window in windows
        if window.kind in _INTERRUPTING_KINDS
    ]
    lines += [
        f"the accessibility tree has the {element.role} {element.name!r}"
        for element in elements
        if element.role in _INTERRUPTING_ROLES
    ]
    return tuple(lines)


def find_missing_windows(
    windows: Sequence[WindowState], elements: Sequence[Element]
) -> tuple[str, ...]:
    """Return one line for each standard part of the appliance's desktops that is missing.

    Args:
        windows: windows of the desktop.
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
    """Return one line for each standard icon missing on the desktop.

    On a host too slow to start the trash service in time, the session continues without its icon.

    Args:
        elements: the accessibility tree.
    """
    shown = {element.name for element in elements}
    return tuple(f"the desktop has no {name} icon" for name in EXPECTED_ICONS if name not in shown)


def describe_picture(ratio: float | None, *, image: str) -> tuple[str, ...]:
    """Return a line if the screenshot differs from the reviewed picture, or there is none.

    Args:
        ratio: share of pixels that differ; None if there is no reviewed picture.
        image: label of the desktop's image.
    """
    if ratio is None:
        return (f"there is no reviewed picture of {image}",)
    if ratio <= MAX_CHANGED_RATIO:
        return ()
    return (f"the picture differs from the reviewed one of {image} in {ratio:.1%} of its pixels",)
