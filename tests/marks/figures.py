"""How many elements of thirty screens get marks, and how many marks are elements.

``screens/`` has what machines showed, and their trees: desktops of Ubuntu 22.04 and the reference phone.
``truth.txt`` lists the elements, as a person sees them in the pictures. Print the figures:

    python -m tests.marks.figures
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from controller.observation.marking.finder import MarkFinder
from controller.specification.observation import MarksSpec
from provisioning.protocols import Bounds, Element

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.observation.marks import Mark
    from provisioning.protocols import Frame

HERE = Path(__file__).parent
_TOLERANCE = 1 / 200
"""How far a listed point may be from its mark, as a share of the picture's longer side."""


@dataclass(frozen=True)
class Listed:
    """An element that a person listed."""

    x: int
    y: int
    name: str


@dataclass(frozen=True)
class Figures:
    """How the marks of screens compare with the listed elements.

    Attributes:
        listed: number of listed elements.
        marks: number of marks.
        found: number of elements that have a mark of their own.
        missed: elements without one.
        surplus: marks that are no element.
    """

    listed: int = 0
    marks: int = 0
    found: int = 0
    missed: tuple[Listed, ...] = ()
    surplus: tuple[Mark, ...] = ()

    @property
    def recall(self) -> float:
        """Share of the elements that have a mark."""
        return self.found / self.listed

    @property
    def precision(self) -> float:
        """Share of the marks that are elements."""
        return self.found / self.marks

    def __add__(self, other: Figures) -> Figures:
        return Figures(
            self.listed + other.listed,
            self.marks + other.marks,
            self.found + other.found,
            self.missed + other.missed,
            self.surplus + other.surplus,
        )


def read_truth() -> dict[str, list[Listed]]:
    """Return the listed elements of each screen, including those of the groups that it names."""
    groups: dict[str, list[Listed]] = {}
    screens: dict[str, list[Listed]] = {}
    rows: list[Listed] = []
    for line in (HERE / "truth.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line[0] in "@=":
            name, *base = line[1:].split()
            rows = [row for group in base for row in groups[group]]
            (groups if line[0] == "@" else screens)[name] = rows
        else:
            x, y, name = line.split(maxsplit=2)
            rows.append(Listed(int(x), int(y), name))
    return screens


def read_screen(name: str) -> tuple[Frame, list[Element]]:
    """Return the picture and the tree of a screen."""
    frame = np.asarray(Image.open(HERE / f"screens/{name}.webp").convert("RGB"))
    rows = json.loads((HERE / f"screens/{name}.json").read_text())
    elements = [
        Element(role, text, Bounds(*box), frozenset(states), "", depth)
        for depth, role, text, box, states in rows
    ]
    return frame, elements


def compare(marks: Sequence[Mark], listed: Sequence[Listed], side_px: int) -> Figures:
    """Give each listed element the smallest mark around its point that no other element has."""
    slack = round(side_px * _TOLERANCE)
    free = sorted(marks, key=_area)
    missed = []
    for element in listed:
        mark = next((mark for mark in free if _holds(mark, element, 0)), None)
        mark = mark or next((mark for mark in free if _holds(mark, element, slack)), None)
        if mark is None:
            missed.append(element)
        else:
            free.remove(mark)
    found = len(listed) - len(missed)
    return Figures(len(listed), len(marks), found, tuple(missed), tuple(free))


def _holds(mark: Mark, element: Listed, slack: int) -> bool:
    box = mark.box_px
    return (
        box.left - slack <= element.x < box.right + slack
        and box.top - slack <= element.y < box.bottom + slack
    )


def _area(mark: Mark) -> int:
    box = mark.box_px
    return (box.right - box.left) * (box.bottom - box.top)


def measure(spec: MarksSpec, *, with_tree: bool = True) -> Mapping[str, Figures]:
    """Return the figures of each screen."""
    figures = {}
    for name, listed in read_truth().items():
        frame, elements = read_screen(name)
        marks = MarkFinder(spec).find(frame, elements if with_tree else ())
        figures[name] = compare(marks, listed, max(frame.shape[:2]))
    return figures


def describe(title: str, figures: Mapping[str, Figures]) -> str:
    """Return one line with the figures of all screens, and of desktops and phones apart."""
    parts = []
    for name, start in (("all", ""), ("desktop", "d"), ("phone", "p")):
        rows = [row for screen, row in figures.items() if screen.startswith(start)]
        total = sum(rows, Figures())
        parts.append(
            f"{name}: recall {total.recall:.1%}, precision {total.precision:.1%}, "
            f"{total.listed} elements, {total.marks} marks, {len(rows)} screens"
        )
    return "\n".join((title, *parts))


def details(figures: Mapping[str, Figures]) -> str:
    """Return what was missed and what is surplus, screen by screen."""
    lines = []
    for name, row in figures.items():
        lines.append(f"{name}: recall {row.recall:.0%}, precision {row.precision:.0%}")
        lines += [f"    missed {each.x},{each.y} {each.name}" for each in row.missed]
        lines += [f"    surplus {each.source} {each.name!r} {each.box_px}" for each in row.surplus]
    return "\n".join(lines)


def main(*options: str) -> None:
    """Print the figures with the tree and without it; with ``-v``, also what differs."""
    with_tree = measure(MarksSpec())
    without = measure(MarksSpec(sources=("text", "icons")), with_tree=False)
    texts = [describe("With the tree", with_tree), describe("Without the tree", without)]
    if "-v" in options:
        texts.append(details(with_tree))
    sys.stdout.write("\n\n".join(texts) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
