"""Cases of the evaluators of the pages of a world's sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.testing.case import (
    CaseTable,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.world import WorldFixture
from evaluators.world import pages
from evaluators.world.records import Page

if TYPE_CHECKING:
    from evaluators.testing.case import State

URL = "https://wiki.example/Norway"
SHOWS: dict[str, Any] = {"url": URL, "text": "Code NOR"}
VALUE: dict[str, Any] = {"url": URL, "element": "code", "value": "NOR"}


def page(body: str, status: int = 200, url: str = URL) -> State:
    """Let a site have a page."""
    html = f"<!DOCTYPE html><html><head><title>x</title></head><body>{body}</body></html>"
    return lambda world: world.pages.update({url: Page(status, html)})


def raw(html: str) -> State:
    """Let a site have a page with any source."""
    return lambda world: world.pages.update({URL: Page(200, html)})


TABLES = (
    CaseTable(
        pages.page_shows,
        WorldFixture,
        (
            positive("text", page("<p>Code NOR, number 578</p>"), **SHOWS),
            negative("other text", page("<p>Code SWE</p>"), **SHOWS),
            near_miss("letter case", page("<p>Code nor</p>"), **SHOWS),
            near_miss("in an attribute", page('<p title="Code NOR">Norway</p>'), **SHOWS),
            corrupt("no page", raw("<<<>>>"), **SHOWS),
            missing("no such page", nothing, **SHOWS),
            missing("page of an error", page("Code NOR", status=404), **SHOWS),
            empty("empty page", raw(""), **SHOWS),
            empty("empty text", page("Code NOR"), url=URL, text=" "),
            hostile("many elements", page("<p>Code</p>" * 20_000), **SHOWS),
            forged("hidden", page('<p style="display:none">Code NOR</p>'), **SHOWS),
            forged("in a script", page("<script>Code NOR</script>"), **SHOWS),
            another_way(
                "in cells", page("<table><tr><th>Code</th><td>NOR</td></tr></table>"), **SHOWS
            ),
            another_way("in bold", page("Code <b>NOR</b>"), **SHOWS),
        ),
    ),
    CaseTable(
        pages.page_value_is,
        WorldFixture,
        (
            positive("value", page('<td id="code">NOR</td>'), **VALUE),
            negative("other value", page('<td id="code">SWE</td>'), **VALUE),
            near_miss("part", page('<td id="code">NOR (578)</td>'), **VALUE),
            near_miss("other element", page('<td id="number">NOR</td>'), **VALUE),
            corrupt("no page", raw("<<<>>>"), **VALUE),
            missing("no such page", nothing, **VALUE),
            empty("empty page", raw(""), **VALUE),
            empty("empty element", page('<td id="code"></td>'), **VALUE),
            hostile("two elements", page('<td id="code">NOR</td><td id="code">SWE</td>'), **VALUE),
            forged("letter case", page('<td id="code">nor</td>'), **VALUE),
            forged("on an error page", page('<td id="code">NOR</td>', status=404), **VALUE),
            another_way("white space", page('<td id="code">\n NOR </td>'), **VALUE),
            another_way("in bold", page('<td id="code"><b>NOR</b></td>'), **VALUE),
        ),
    ),
)
