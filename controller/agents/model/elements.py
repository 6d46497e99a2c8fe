"""Describe the elements of a screen to a model, one per line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from controller.agents.model.scaling import ScaledScreenshot
    from provisioning.protocols import Element

_MAX_LINES = 150
_NAME_CHARS = 80
_HEADING = "Elements:"
_REST = "{count} more elements are not listed."
_OFF = "not checked"
_DISABLED = "disabled"
TEXTS = (_HEADING, _REST, _OFF, _DISABLED, _MAX_LINES)
"""What determines the list, for the digest of prompts."""

# Roles of AT-SPI (atspi-constants.h), and the last parts of Android's class names in lower case.
_TWO_STATES = frozenset(
    {
        *("check box", "check menu item", "radio button", "radio menu item", "switch"),
        *("toggle button", "checkbox", "radiobutton", "togglebutton", "checkedtextview"),
        *("switchcompat", "materialswitch"),
    }
)
_CONTROLS = _TWO_STATES | frozenset(
    {
        *("push button", "button", "menu item", "menu", "combo box", "entry", "password text"),
        *("text", "spin button", "slider", "link", "page tab", "imagebutton", "edittext"),
        *("seekbar", "ratingbar", "spinner", "numberpicker"),
    }
)

# States of AT-SPI (atspi-constants.h) and attributes of Android's hierarchy.
_ACTS = frozenset({"clickable", "long-clickable", "checkable", "editable"})
_ON = frozenset({"checked", "pressed"})
_USABLE = frozenset({"enabled", "sensitive"})
_UNIMPORTANT = (_ACTS - {"editable"}) | frozenset(
    {
        *("enabled", "sensitive", "showing", "visible", "opaque", "focusable", "selectable"),
        *("horizontal", "vertical", "single-line", "multi-line", "resizable", "transient"),
        *("manages-descendants", "supports-autocompletion", "selectable-text", "has-tooltip"),
    }
)
"""States that most elements have, or that say nothing about what an element shows now."""


def describe_elements(elements: Sequence[Element], screen: ScaledScreenshot) -> str:
    """Return named elements and controls, with their states and the coordinates to click.

    Args:
        elements: a machine's elements.
        screen: the picture of that machine that the model receives.
    """
    lines = [
        f"{element.role} {element.name[:_NAME_CHARS]!r} at "
        f"{screen.to_scaled(element.bounds.center)}{_listed(_states(element))}"
        for element in elements
        if element.name.strip() or _is_control(element)
    ]
    rest = len(lines) - _MAX_LINES
    more = [_REST.format(count=rest)] if rest > 0 else []
    return "\n".join([_HEADING, *lines[:_MAX_LINES], *more])


def _is_control(element: Element) -> bool:
    return _kind(element) in _CONTROLS or not element.states.isdisjoint(_ACTS)


def _states(element: Element) -> Iterator[str]:
    """Yield what an element's states tell, and what a switch or a usable control would have."""
    states = element.states
    yield from sorted(states - _UNIMPORTANT)
    if (_kind(element) in _TWO_STATES or "checkable" in states) and states.isdisjoint(_ON):
        yield _OFF
    # Android's hierarchy and AT-SPI's visible elements always say whether they are enabled.
    is_reported = "visible" in states or "." in element.role
    if is_reported and _is_control(element) and states.isdisjoint(_USABLE):
        yield _DISABLED


def _kind(element: Element) -> str:
    return element.role.rpartition(".")[2].lower()


def _listed(states: Iterator[str]) -> str:
    text = ", ".join(states)
    return f" ({text})" if text else ""
