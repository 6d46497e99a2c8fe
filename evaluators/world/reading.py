"""Read values on pages of a world's sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import html

from evaluators.desktop.visible import shown

if TYPE_CHECKING:
    from evaluators.world.records import Page

_OK = 200


def value_on(page: Page, element: str) -> str | None:
    """Return the text of the element with an id; None if the page or the only such element is missing."""
    if page.status != _OK or not page.html.strip():
        return None
    found = html.document_fromstring(page.html).xpath("//*[@id=$name]", name=element)
    return shown(found[0].text_content()) if len(found) == 1 else None
