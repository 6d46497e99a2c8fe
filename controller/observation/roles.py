"""Kinds of elements in accessibility trees: which are controls, and which states say something."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.protocols import Element

# Roles of AT-SPI (atspi-constants.h), and the last parts of Android's class names in lower case.
TWO_STATES = frozenset(
    {
        *("check box", "check menu item", "radio button", "radio menu item", "switch"),
        *("toggle button", "checkbox", "radiobutton", "togglebutton", "checkedtextview"),
        *("switchcompat", "materialswitch"),
    }
)
CONTROLS = TWO_STATES | frozenset(
    {
        *("push button", "button", "menu item", "menu", "combo box", "entry", "password text"),
        *("text", "spin button", "slider", "link", "page tab", "imagebutton", "edittext"),
        *("seekbar", "ratingbar", "spinner", "numberpicker"),
    }
)
PARTS_OF_LISTS = frozenset(
    {
        *("list item", "tree item", "terminal", "editbar", "autocomplete", "push button menu"),
    }
)
"""Further roles that a person clicks or types into."""
NAMED_PARTS = frozenset(
    {
        *("icon", "canvas", "table cell", "table column header", "table row header"),
        *("column header", "row header"),
    }
)
"""Roles that a person clicks if they have a name, and that else are parts of what is beside them."""
TEXTS = frozenset(
    {
        *("label", "heading", "static", "paragraph", "caption", "tool tip", "info bar"),
        *("textview", "image"),
    }
)
"""Roles of what a person reads but does not operate."""

# States of AT-SPI (atspi-constants.h) and attributes of Android's hierarchy.
ACTS = frozenset({"clickable", "long-clickable", "checkable", "editable"})
ON = frozenset({"checked", "pressed"})
USABLE = frozenset({"enabled", "sensitive"})
UNIMPORTANT = (ACTS - {"editable"}) | frozenset(
    {
        *("enabled", "sensitive", "showing", "visible", "opaque", "focusable", "selectable"),
        *("horizontal", "vertical", "single-line", "multi-line", "resizable", "transient"),
        *("manages-descendants", "supports-autocompletion", "selectable-text", "has-tooltip"),
    }
)
"""States that most elements have, or that say nothing about what an element shows now."""
OFF = "not checked"
DISABLED = "disabled"


def kind_of(element: Element) -> str:
    """Return the role in lower case, without the package of an Android class."""
    return element.role.rpartition(".")[2].lower()


def is_control(element: Element) -> bool:
    """Return whether a person operates an element, rather than a part of it or what is around it."""
    return kind_of(element) in CONTROLS or not element.states.isdisjoint(ACTS)


def described_states(element: Element) -> Iterator[str]:
    """Yield what an element's states tell, and what a switch or a usable control would have."""
    states = element.states
    yield from sorted(states - UNIMPORTANT)
    if (kind_of(element) in TWO_STATES or "checkable" in states) and states.isdisjoint(ON):
        yield OFF
    # Android's hierarchy and AT-SPI's visible elements always say whether they are enabled.
    is_reported = "visible" in states or "." in element.role
    if is_reported and is_control(element) and states.isdisjoint(USABLE):
        yield DISABLED
