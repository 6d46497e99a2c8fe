"""Evaluators of the pages of a world's sites, as they are when the task is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.visible import html_text
from evaluators.world.reading import value_on
from evaluators.world.texts import has_text, is_same_text

if TYPE_CHECKING:
    from evaluators.world.view import WorldView

_OK = 200


@evaluator(on="world")
def page_shows(world: WorldView, url: str, text: str) -> bool:
    """Return whether a page of a site shows a text, when it is opened without an account.

    A page that does not exist is unmet.

    Example:
        ``{on: world, check: page_shows, with: {url: "https://wiki.example/Norway", text: NOR}}``

    Args:
        world: the world.
        url: address of the page.
        text: the part, which must not be empty; white space does not count.

    Raises:
        EvaluationError: the address is not that of a site of the world.
    """
    page = world.page(url)
    return page.status == _OK and bool(text.strip()) and has_text(html_text(page.html), text)


@evaluator(on="world")
def page_value_is(world: WorldView, url: str, element: str, value: str) -> bool:
    """Return whether an element of a page has a value, when the task is judged.

    Example:
        ``{on: world, check: page_value_is, with: {url: "https://code.example/ann/tools",
        element: stars, value: "12"}}``

    Args:
        world: the world.
        url: address of the page.
        element: id of the element.
        value: its complete text.

    Raises:
        EvaluationError: the address is not that of a site of the world.
    """
    found = value_on(world.page(url), element)
    return found is not None and is_same_text(found, value)
