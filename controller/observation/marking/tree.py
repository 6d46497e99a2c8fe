"""Candidates for marks from an accessibility tree: what is visible and can be pointed at."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from controller.observation.marking.candidates import (
    LEAST_SIDE_PX,
    Candidate,
    area_px,
    free_part,
    overlap,
    share_inside,
)
from controller.observation.marking.regions import around
from controller.observation.roles import (
    NAMED_PARTS,
    PARTS_OF_LISTS,
    TEXTS,
    described_states,
    is_control,
    kind_of,
)
from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from provisioning.protocols import Element

_NAME_CHARS = 200
_LARGEST_SHARE = 0.5
"""A larger share of the screen is a surface, such as the desktop, unless text is typed into it."""
_SAME_SHARE = 0.9
_LEAST_SHOWN = 0.3
"""Share of an element that must be visible."""
_SHADOW_PX = 60
_CELL_GAP_PX = 4
_CELL = "table cell"
_SURFACES = frozenset({"terminal", "text", "entry", "edittext", "editbar", "document text"})
_MENUS = frozenset({"menu", "popup menu", "window"})
_SHEETS = frozenset({"document spreadsheet"})
"""Their cells are found by what is written in them: each sheet has hundreds of empty ones."""


class Node(NamedTuple):
    """An element with its place in the tree.

    Attributes:
        element: the element.
        end: index after its last descendant.
        above: indexes of what contains it, the root first.
    """

    element: Element
    end: int
    above: tuple[int, ...]


def tree_candidates(
    elements: Sequence[Element], screen_px: tuple[int, int], stack: Sequence[Bounds] = ()
) -> list[Candidate]:
    """Return the visible elements that a person can point at, in document order.

    Args:
        elements: a machine's elements in document order.
        screen_px: width and height of the screen.
        stack: bounds of the windows from bottom to top, if they are known.
    """
    screen = Bounds(0, 0, *screen_px)
    nodes = _nodes(elements)
    layers = _layers(nodes, screen, stack)
    rows: list[Candidate] = []
    for index, node in enumerate(nodes):
        candidate = _candidate(index, node, nodes, screen)
        if candidate is None:
            continue
        box = _shown_part(index, candidate.box, layers)
        if area_px(box) >= _LEAST_SHOWN * area_px(candidate.box):
            rows.append(replace(candidate, box=box))
    return rows


def has_hidden_windows(elements: Sequence[Element], screen_px: tuple[int, int]) -> bool:
    """Return whether windows overlap, so that only their order says which parts are visible."""
    screen = Bounds(0, 0, *screen_px)
    boxes = [
        element.bounds
        for element in elements
        if element.depth == 0
        and element.role != "window"
        and share_inside(screen, element.bounds) < _SAME_SHARE
    ]
    pairs = ((one, other) for place, one in enumerate(boxes) for other in boxes[:place])
    return any(area_px(overlap(one, other)) > 0 for one, other in pairs)


def _nodes(elements: Sequence[Element]) -> list[Node]:
    ends = [len(elements)] * len(elements)
    aboves: list[tuple[int, ...]] = []
    open_: list[int] = []
    for index, element in enumerate(elements):
        while open_ and elements[open_[-1]].depth >= element.depth:
            ends[open_.pop()] = index
        aboves.append(tuple(open_))
        open_.append(index)
    return [Node(*row) for row in zip(elements, ends, aboves, strict=True)]


def _candidate(index: int, node: Node, nodes: Sequence[Node], screen: Bounds) -> Candidate | None:
    element = node.element
    box = overlap(element.bounds, screen)
    for place in node.above[1:]:
        box = overlap(box, nodes[place].element.bounds) if _clips(nodes[place]) else box
    if min(box.right - box.left, box.bottom - box.top) < LEAST_SIDE_PX:
        return None
    if _is_surface(element, box, screen) or _in_sheet(node, nodes):
        return None
    operates = _operates(element)
    if not operates and not _is_text(index, node, nodes):
        return None
    if _is_part_of_control(element, node, nodes):
        return None
    box = _with_icons(index, box, node, nodes)
    name = element.name.strip() or " ".join(_names_below(index, node, nodes))
    states = frozenset(described_states(element))
    return Candidate(box, element.role, name[:_NAME_CHARS], "tree", states, operates)


def _clips(node: Node) -> bool:
    return kind_of(node.element) in {"scroll pane", "viewport", "scrollview", "recyclerview"}


def _operates(element: Element) -> bool:
    kind = kind_of(element)
    is_named_part = kind in NAMED_PARTS and bool(element.name.strip())
    return is_control(element) or kind in PARTS_OF_LISTS or is_named_part


def _is_surface(element: Element, box: Bounds, screen: Bounds) -> bool:
    is_large = area_px(box) > _LARGEST_SHARE * area_px(screen)
    return is_large and kind_of(element) not in _SURFACES


def _in_sheet(node: Node, nodes: Sequence[Node]) -> bool:
    return any(kind_of(nodes[place].element) in _SHEETS for place in node.above)


def _is_text(index: int, node: Node, nodes: Sequence[Node]) -> bool:
    """Return whether it is a text that contains no other element with a name."""
    if not node.element.name.strip() or kind_of(node.element) not in TEXTS:
        return False
    return not any(nodes[place].element.name.strip() for place in range(index + 1, node.end))


def _is_part_of_control(element: Element, node: Node, nodes: Sequence[Node]) -> bool:
    """Return whether a control around an element stands for it."""
    for place in reversed(node.above):
        outer = nodes[place].element
        if not _operates(outer) or kind_of(outer) == "menu":
            continue
        if not is_control(element) and kind_of(element) not in PARTS_OF_LISTS:
            return share_inside(element.bounds, outer.bounds) > _SAME_SHARE
        is_same = share_inside(outer.bounds, element.bounds) > _SAME_SHARE
        return is_same and bool(outer.name.strip() or not element.name.strip())
    return False


def _with_icons(index: int, box: Bounds, node: Node, nodes: Sequence[Node]) -> Bounds:
    """Extend a cell's box to the cells without a name to its left, which show its icon."""
    if kind_of(node.element) != _CELL:
        return box
    for place in range(index - 1, -1, -1):
        other = nodes[place].element
        is_beside = (
            kind_of(other) == _CELL
            and not other.name.strip()
            and other.depth == node.element.depth
            and (other.bounds.top, other.bounds.bottom)
            == (node.element.bounds.top, node.element.bounds.bottom)
            and 0 <= box.left - other.bounds.right <= _CELL_GAP_PX
        )
        if not is_beside:
            break
        box = around(box, other.bounds)
    return box


def _names_below(index: int, node: Node, nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the names of the texts in a control, except those of controls in it."""
    place = index + 1
    while place < node.end:
        inner = nodes[place]
        name = inner.element.name.strip()
        if name:
            yield name
        place = inner.end if _operates(inner.element) else place + 1


class _Layer(NamedTuple):
    """An area that hides what is below it.

    Attributes:
        first: index of the element that it belongs to.
        end: index after its last descendant.
        box: the area.
        level: what has a lower level is hidden; menus hide everything else.
    """

    first: int
    end: int
    box: Bounds
    level: int


_POPUP_LEVEL = 1 << 20


def _layers(nodes: Sequence[Node], screen: Bounds, stack: Sequence[Bounds]) -> list[_Layer]:
    """Return the windows and open menus, which hide other elements."""
    layers = []
    for index, node in enumerate(nodes):
        box = _content_box(index, node, nodes)
        if box is None:
            continue
        if not node.above:
            level = _level(node.element, box, screen, stack)
            layers.append(_Layer(index, node.end, overlap(box, screen), level))
        elif kind_of(node.element) in _MENUS:
            level = _POPUP_LEVEL + len(node.above)
            layers.append(_Layer(index + 1, node.end, overlap(box, screen), level))
    return layers


def _content_box(index: int, node: Node, nodes: Sequence[Node]) -> Bounds | None:
    """Return what a window or menu hides: the box around its children, without its shadow."""
    box: Bounds | None = None
    place = index + 1
    while place < node.end:
        bounds = nodes[place].element.bounds
        box = bounds if box is None else around(box, bounds)
        place = nodes[place].end
    if node.above:
        return box
    # Some programs report only a part of their windows.
    own = node.element.bounds
    return box if box is not None and _is_inset(box, own) else own


def _is_inset(box: Bounds, outer: Bounds) -> bool:
    """Return whether a box has the size of another one without a shadow."""
    gaps = (
        box.left - outer.left,
        box.top - outer.top,
        outer.right - box.right,
        outer.bottom - box.bottom,
    )
    return all(abs(gap) <= _SHADOW_PX for gap in gaps)


def _level(element: Element, box: Bounds, screen: Bounds, stack: Sequence[Bounds]) -> int:
    if element.role == "window":
        return _POPUP_LEVEL
    likeness = [_likeness(bounds, element.bounds) for bounds in stack]
    if likeness and max(likeness) > 0:
        return 1 + likeness.index(max(likeness))
    if share_inside(screen, box) > _SAME_SHARE:
        return 0
    return 2 if "active" in element.states else 1


def _likeness(one: Bounds, other: Bounds) -> float:
    """Return how alike two boxes are, 0 to 1; 0 if they are less than half alike."""
    common = area_px(overlap(one, other))
    ratio = common / max(1, area_px(one) + area_px(other) - common)
    return ratio if ratio > _LARGEST_SHARE else 0.0


def _shown_part(index: int, box: Bounds, layers: Sequence[_Layer]) -> Bounds:
    """Return the largest part of an element's box that nothing above it hides."""
    own = max((row.level for row in layers if row.first <= index < row.end), default=0)
    hiding = [
        layer.box for layer in layers if layer.level > own and not layer.first <= index < layer.end
    ]
    return free_part(box, hiding)
