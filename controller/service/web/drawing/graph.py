"""Layout of a graph of nodes in rows, with predecessors above their successors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CHAR_PX = 7.4
_PADDING_PX = 30
_BOX_PX = 30
_ROW_PX = 62
_GAP_PX = 18
_MARGIN_PX = 8
_MAX_CHARS = 30
_SWEEPS = 4


@dataclass(frozen=True, slots=True)
class Shape:
    """A node of a graph to draw.

    Attributes:
        id: its name.
        after: its predecessors.
        mode: ``once``, ``hold``, ``keep``, or empty if unknown.
    """

    id: str
    after: tuple[str, ...] = ()
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A drawn node, in px; `label` is its name, shortened if it is long."""

    id: str
    label: str
    mode: str
    left: float
    top: float
    width: float
    height: float = _BOX_PX

    @property
    def middle(self) -> float:
        """The horizontal middle."""
        return self.left + self.width / 2


@dataclass(frozen=True, slots=True)
class Edge:
    """A line from the bottom of a box to the top of another, as the ``d`` of an SVG path."""

    first: str
    second: str
    path: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A laid-out graph; sizes in px."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]


def draw_graph(shapes: Sequence[Shape]) -> Drawing:
    """Lay out the nodes and edges of a graph.

    Edges to unknown nodes are omitted. Nodes of mode ``keep`` have a row of their own, the last one.

    Args:
        shapes: the nodes, in the task's order; they form no cycle.
    """
    rows = _ordered(_rows(shapes), shapes)
    widths = {shape.id: _width(shape.id) for shape in shapes}
    totals = [sum(widths[name] + _GAP_PX for name in row) - _GAP_PX for row in rows]
    whole = max(totals, default=0.0) + 2 * _MARGIN_PX
    modes = {shape.id: shape.mode for shape in shapes}
    boxes: dict[str, Box] = {}
    for number, row in enumerate(rows):
        left = (whole - totals[number]) / 2
        for name in row:
            top = _MARGIN_PX + number * _ROW_PX
            boxes[name] = Box(name, _label(name), modes[name], left, top, widths[name])
            left += widths[name] + _GAP_PX
    edges = tuple(
        Edge(name, shape.id, _curve(boxes[name], boxes[shape.id]))
        for shape in shapes
        for name in shape.after
        if name in boxes
    )
    height = 2 * _MARGIN_PX + max(0, len(rows) - 1) * _ROW_PX + _BOX_PX
    return Drawing(whole, height, tuple(boxes[shape.id] for shape in shapes), edges)


def _rows(shapes: Sequence[Shape]) -> list[list[str]]:
    """Group nodes by the length of the longest path to them; ``keep`` nodes come last."""
    known = {shape.id: shape for shape in shapes}
    depths: dict[str, int] = {}
    left = [shape for shape in shapes if shape.mode != "keep"]
    while left:
        ready = [
            shape for shape in left if all(name in depths for name in shape.after if name in known)
        ]
        for shape in ready or left:  # with a cycle: all remaining nodes
            before = [depths[name] for name in shape.after if name in depths]
            depths[shape.id] = max(before, default=-1) + 1
        left = [shape for shape in left if shape.id not in depths]
    rows: list[list[str]] = [[] for _ in range(max(depths.values(), default=-1) + 1)]
    for shape in shapes:
        if shape.id in depths:
            rows[depths[shape.id]].append(shape.id)
    keeps = [shape.id for shape in shapes if shape.mode == "keep"]
    return [*rows, keeps] if keeps else rows


def _ordered(rows: list[list[str]], shapes: Sequence[Shape]) -> list[list[str]]:
    """Order each row by the positions of its neighbours, to reduce edge crossings.

    Source: Sugiyama, Tagawa, Toda, IEEE Trans. SMC 11 (1981): barycentric ordering.
    """
    before = {shape.id: list(shape.after) for shape in shapes}
    after: dict[str, list[str]] = {shape.id: [] for shape in shapes}
    for shape in shapes:
        for name in shape.after:
            after.setdefault(name, []).append(shape.id)
    for sweep in range(_SWEEPS):
        is_down = sweep % 2 == 0
        neighbours = before if is_down else after
        for row in rows if is_down else reversed(rows):
            places = _places(rows)
            row.sort(key=lambda name: _mean(neighbours[name], places, places[name]))
    return rows


def _places(rows: Sequence[Sequence[str]]) -> dict[str, float]:
    return {name: (number + 0.5) / len(row) for row in rows for number, name in enumerate(row)}


def _mean(names: Sequence[str], places: Mapping[str, float], own: float) -> float:
    positions = [places[name] for name in names if name in places]
    return sum(positions) / len(positions) if positions else own


def _label(name: str) -> str:
    return name if len(name) <= _MAX_CHARS else f"{name[: _MAX_CHARS - 1]}…"


def _width(name: str) -> float:
    return round(len(_label(name)) * _CHAR_PX + _PADDING_PX, 1)


def _curve(first: Box, second: Box) -> str:
    x, y = first.middle, first.top + first.height
    to_x, to_y = second.middle, second.top
    half = (y + to_y) / 2
    return f"M{x:.1f} {y:.1f}C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}"
