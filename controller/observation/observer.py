"""Observations of an agent: screenshots of all machines, and more on request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from controller.observation.pictures import encode_png
from foundation.files import digest_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from controller.observation.clips import Clip
    from controller.observation.marks import Mark
    from controller.observation.pictures import Picture
    from controller.observation.results import ActionResult
    from provisioning.protocols import Element, Json, Machine

    Frame = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Screenshot:
    """One screenshot.

    Attributes:
        frame: uint8 array (H, W, 3), RGB, origin top left.
        png: the frame as a lossless PNG.
        digest: SHA-256 of `png`.
    """

    frame: Frame
    png: bytes
    digest: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What an agent sees before it acts.

    Attributes:
        step: number of actions executed so far.
        shots: screenshots by role.
        feedback: why the agent's last action was rejected; empty if it was not.
        trees: visible elements by role, if the run enables them.
        progress: lines about the task's progress, if the run enables them.
        marks: marks by role, if the run enables them; the ones that actions name.
        results: what the actions of the last turn returned besides, in order.
        pictures: screenshots by role as the run wants models to see them, with what is drawn on them;
            empty if models receive none.
        previous: screenshots by role before the last step, likewise.
        texts: further parts by role, as text for models: marks, trees, clipboards.
        tree_faults: why a role's tree could not be read.
        clips: videos of the last step by role.
        found: results of the suite's observation functions, by role and name.
    """

    step: int
    shots: Mapping[str, Screenshot]
    feedback: str = ""
    trees: Mapping[str, Sequence[Element]] = field(default_factory=dict)
    progress: tuple[str, ...] = ()
    marks: Mapping[str, Sequence[Mark]] = field(default_factory=dict)
    results: tuple[ActionResult, ...] = ()
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    previous: Mapping[str, Picture] = field(default_factory=dict)
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tree_faults: Mapping[str, str] = field(default_factory=dict)
    clips: Mapping[str, Clip] = field(default_factory=dict)
    found: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)


def describe_tree(tree: Sequence[Element]) -> list[dict[str, Json]]:
    """Return an accessibility tree as JSON, in the format of agent programs and logs."""
    rows: list[dict[str, Json]] = []
    for element in tree:
        bounds = element.bounds
        row: dict[str, Json] = {
            "role": element.role,
            "name": element.name,
            "bounds": [bounds.left, bounds.top, bounds.right, bounds.bottom],
            "states": [*sorted(element.states)],
            "resource_id": element.resource_id,
            "depth": element.depth,
        }
        rows.append(row)
    return rows


@dataclass(slots=True)
class Observer:
    """Takes screenshots of all machines; encodes only those that changed.

    Attributes:
        machines: machines by role.
        shots: the last screenshots by role.
    """

    machines: Mapping[str, Machine]
    shots: dict[str, Screenshot] = field(default_factory=dict)

    def take_screenshots(self, known: Mapping[str, Frame] | None = None) -> dict[str, Screenshot]:
        """Take a screenshot of every machine.

        Args:
            known: frames by role that were just captured and are reused.
        """
        for role, machine in self.machines.items():
            frame = (known or {}).get(role)
            self._keep(role, machine.screen.capture() if frame is None else frame)
        return dict(self.shots)

    def _keep(self, role: str, frame: Frame) -> None:
        last = self.shots.get(role)
        if last is None or not np.array_equal(last.frame, frame):
            png = encode_png(frame)
            self.shots[role] = Screenshot(frame, png, digest_bytes(png))
