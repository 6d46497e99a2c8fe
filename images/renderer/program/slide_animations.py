"""What the animations of a slide leave on the screen when its show has been played to the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from images.renderer.program.formatting import paragraphs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_SET = 5
_FILTER = 9
_CONTAINERS = (1, 2, 3)
"""Source: com.sun.star.animations.AnimationNodeType: SET, TRANSITIONFILTER; PAR, SEQ, ITERATE."""
_MAIN, _INTERACTIVE = 4, 6
"""Source: com.sun.star.presentation.EffectNodeType: MAIN_SEQUENCE, INTERACTIVE_SEQUENCE."""
_SHOWN = (True, "visible")
_MAX_DEPTH = 20
_Moment = tuple[bool, int, float, int]
"""Whether it needs a click on a certain shape; number of the click; seconds; number of the node."""


@dataclass(frozen=True)
class _Switch:
    """A moment at which something appears or disappears.

    Attributes:
        shape: the shape.
        paragraph: number of its paragraph; None for all.
        moment: when.
        is_on: whether it appears.
    """

    shape: Any
    paragraph: int | None
    moment: _Moment
    is_on: bool


def hide_what_left(page: Any) -> None:  # noqa: ANN401 - UNO has no types
    """Let the print of a slide leave out what its animations hide in the end.

    Args:
        page: the slide.
    """
    switches = sorted(_switches(page.AnimationNode), key=lambda switch: switch.moment)
    while switches:
        first = switches[0]
        same = [
            one for one in switches if one.paragraph == first.paragraph and one.shape == first.shape
        ]
        switches = [one for one in switches if one not in same]
        played = [switch for switch in same if not switch.moment[0]]
        # What appears only by a click on a certain shape is not there before.
        if not (played[-1].is_on if played else not first.is_on):
            _hide(first)


def _hide(switch: _Switch) -> None:
    if switch.paragraph is None:
        switch.shape.Visible = False
        return
    paragraphs = list(paragraphs_of(switch.shape))
    if switch.paragraph < len(paragraphs):
        paragraphs[switch.paragraph].String = ""


def _switches(root: Any) -> Iterator[_Switch]:  # noqa: ANN401
    counter = iter(range(1 << 30))
    for sequence in _children(root):
        for part in (sequence, *_children(sequence)):
            kind = _kind_of(part)
            if kind in {_MAIN, _INTERACTIVE}:
                for click, group in enumerate(_children(part)):
                    for node, begin, target in _nodes(group, 0.0, None, 0):
                        moment = kind == _INTERACTIVE, click, begin, next(counter)
                        yield from _switch(node, target, moment)


def _nodes(node: Any, begin: float, target: Any, depth: int) -> Iterator[tuple[Any, float, Any]]:  # noqa: ANN401
    """Yield the nodes without children, with the second at which they begin, and their target."""
    start = begin + (node.Begin if isinstance(node.Begin, float) else 0.0)
    target = getattr(node, "Target", None) or target
    if node.Type not in _CONTAINERS:
        yield node, start, target
    elif depth < _MAX_DEPTH:
        for child in _children(node):
            yield from _nodes(child, start, target, depth + 1)


def _switch(node: Any, target: Any, moment: _Moment) -> Iterator[_Switch]:  # noqa: ANN401
    if node.Type == _SET and node.AttributeName.lower() == "visibility":
        is_on = node.To in _SHOWN
    elif node.Type == _FILTER:
        is_on = bool(node.Mode)
    else:
        return
    paragraph = getattr(target, "Paragraph", None)
    shape = target if paragraph is None else target.Shape
    if hasattr(shape, "Visible"):
        yield _Switch(shape, paragraph, moment, is_on)


def _kind_of(node: Any) -> int | None:  # noqa: ANN401
    return next((row.Value for row in node.UserData if row.Name == "node-type"), None)


def _children(node: Any) -> Iterator[Any]:  # noqa: ANN401
    if not hasattr(node, "createEnumeration"):
        return
    children = node.createEnumeration()
    while children.hasMoreElements():
        yield children.nextElement()
