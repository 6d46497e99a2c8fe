"""An accessibility tree, or a set of marks, as compact text for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from controller.observation.roles import DISABLED, OFF, described_states, is_control

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from controller.observation.marks import Mark
    from controller.specification.observation import TreeTextSpec
    from provisioning.protocols import Element

_MAX_LINES = 150
_NAME_CHARS = 80
_HEADING = "Elements:"
_MARKS = "Marks:"
_REST = "{count} more elements are not listed."
_NO_TREE = "Its accessibility tree could not be read: {fault}"
TEXTS = (_HEADING, _MARKS, _REST, _NO_TREE, OFF, DISABLED, _MAX_LINES)
"""What determines these texts, for the digest of prompts."""


class Screen(Protocol):
    """Converts places on a machine's screen to coordinates of the picture that a model sees."""

    def to_picture(self, point: tuple[int, int]) -> tuple[int, int]:
        """Convert a point on the screen."""
        ...


def describe_elements(elements: Sequence[Element], screen: Screen) -> str:
    """Return named elements and controls, with their states and the coordinates to click.

    Args:
        elements: a machine's elements.
        screen: the picture of that machine that the model receives.
    """
    lines = [
        f"{element.role} {element.name[:_NAME_CHARS]!r} at "
        f"{screen.to_picture(element.bounds.center)}{_listed(described_states(element))}"
        for element in elements
        if element.name.strip() or is_control(element)
    ]
    rest = len(lines) - _MAX_LINES
    more = [_REST.format(count=rest)] if rest > 0 else []
    return "\n".join([_HEADING, *lines[:_MAX_LINES], *more])


def describe_tree_text(
    elements: Sequence[Element], spec: TreeTextSpec, screen: Screen, fault: str = ""
) -> str:
    """Return a tree as indented lines, within a budget of characters.

    Elements without a name that are no controls are left out, and do not indent what they contain. If
    the budget is exceeded, texts that are no controls are left out first, then the last elements.

    Args:
        elements: a machine's elements in document order.
        spec: budget and content.
        screen: the picture of that machine that the model receives.
        fault: why the tree could not be read; empty if it was.
    """
    if fault:
        return _NO_TREE.format(fault=fault)
    rows = list(_rows(elements, spec))
    total = sum(len(_line(depth, element, spec, screen)) + 1 for depth, element in rows)
    if total > spec.max_chars:
        rows = [row for row in rows if is_control(row[1])]
    room = spec.max_chars - len(_HEADING) - len(_REST) - 1
    lines: list[str] = []
    for depth, element in rows:
        line = _line(depth, element, spec, screen)
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    left_out = sum(1 for _ in _rows(elements, spec)) - len(lines)
    more = [_REST.format(count=left_out)] if left_out else []
    return "\n".join([_HEADING, *lines, *more])


def _rows(elements: Sequence[Element], spec: TreeTextSpec) -> Iterator[tuple[int, Element]]:
    """Yield the elements to list, with the number of listed elements that contain each."""
    above: list[int] = []
    for element in elements:
        while above and above[-1] >= element.depth:
            above.pop()
        if element.name.strip() or (spec.has_unnamed and is_control(element)):
            yield len(above), element
            above.append(element.depth)


def _line(depth: int, element: Element, spec: TreeTextSpec, screen: Screen) -> str:
    states = _listed(described_states(element)) if spec.has_states else ""
    name = f" {element.name[:_NAME_CHARS]!r}" if element.name.strip() else ""
    x, y = screen.to_picture(element.bounds.center)
    return f"{' ' * depth}{element.role}{name} {x},{y}{states}"


def describe_marks(marks: Sequence[Mark]) -> str:
    """Return a set of marks as text, one mark per line."""
    lines = [
        f"[{mark.id}] {mark.role}"
        + (f" {mark.name[:_NAME_CHARS]!r}" if mark.name else "")
        + _listed(iter(sorted(mark.states)))
        for mark in marks
    ]
    return "\n".join([_MARKS, *lines])


def _listed(states: Iterator[str]) -> str:
    text = ", ".join(states)
    return f" ({text})" if text else ""
