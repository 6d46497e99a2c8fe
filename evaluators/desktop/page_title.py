"""The title of an HTML page, as a browser that runs scripts shows it before any script ran.

A page in which only a whole browser could tell its first title has none here: one with a template, a
table, a choice, frames or a formula before it. Read in linear time, whatever the page holds; what
Python's `html.parser` takes for a comment depends on its version.

Source: the HTML standard, 13.2.5 (tokenization) and 13.2.6 (tree construction).
"""

from __future__ import annotations

import html
import re

_MARKUP = re.compile(r"<(?:!--|[!?]|/?[a-zA-Z]|/)")
_NAME = re.compile(r"[^\t\n\f\r />]+")
_BLANKS = re.compile(r"[\t\n\f\r /]*")
_ATTRIBUTE = re.compile(
    r"[^\t\n\f\r />][^\t\n\f\r />=]*"
    r"""(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z)|[^\t\n\f\r >]*))?"""
)
_COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_TAKEN_FOR_COMMENT = re.compile(r"<[^>]*>")
_SCRIPT = re.compile(r"<!(?=--)|-->|<(/?)script(?=[\t\n\f\r />])", re.IGNORECASE)
_TEXTS = frozenset({"style", "xmp", "iframe", "noembed", "noframes", "noscript", "textarea"})
"""Elements whose content is a text, whatever markup it holds."""
_UNTOLD = frozenset({"template", "table", "select", "frameset", "math", "plaintext"})
_SHAPES = frozenset({
    "circle", "clippath", "defs", "ellipse", "g", "line", "lineargradient", "mask", "path", "polygon",
    "polyline", "radialgradient", "rect", "stop", "svg", "symbol", "text", "title", "tspan", "use",
})  # fmt: skip
"""Elements of a picture in which no title is the page's."""


def title_of(page: str) -> str | None:
    """Return a page's title; None when there is none, or only a browser could tell it."""
    return _Reader(page).title()


class _Reader:
    """Follows the markup of a page to its first title.

    Args:
        page: HTML.
    """

    def __init__(self, page: str) -> None:
        self._page = page
        self._at = 0
        self._shapes: list[str] = []

    def title(self) -> str | None:
        """Return the title, as `title_of` does."""
        while match := _MARKUP.search(self._page, self._at):
            kind = match[0]
            self._at = match.start()
            if kind[-1].isalpha():
                name, is_closed = self._tag(is_end=kind[1] == "/")
                if name == "title" and not self._shapes and kind[1] != "/":
                    return self._text(name)
                if not self._enter(name, is_end=kind[1] == "/", is_closed=is_closed):
                    return None
            elif self._shapes and self._page.startswith("<![CDATA[", self._at):
                return None
            else:
                self._comment(kind)
        return None

    def _enter(self, name: str, *, is_end: bool, is_closed: bool) -> bool:
        """Go on behind a tag; return whether what follows can be told."""
        if self._shapes or (name == "svg" and not is_end):
            return self._shape(name, is_end=is_end, is_closed=is_closed)
        if is_end:
            return True
        if name == "script":
            self._script()
        elif name in _TEXTS:
            self._text(name)
        return name not in _UNTOLD

    def _shape(self, name: str, *, is_end: bool, is_closed: bool) -> bool:
        """Follow a tag of a picture; within its title no other is expected."""
        if is_end:
            return self._shapes.pop() == name
        is_in_title = self._shapes[-1:] == ["title"]
        if not is_closed:
            self._shapes.append(name)
        return name in _SHAPES and not is_in_title

    def _tag(self, *, is_end: bool) -> tuple[str, bool]:
        """Go behind a tag; return its name, and whether a slash ends it. One without an end has no name."""
        name = _NAME.match(self._page, self._at + 1 + is_end)
        self._at = name.end() if name else len(self._page)
        while True:
            blanks = _BLANKS.match(self._page, self._at)
            self._at = blanks.end() if blanks else self._at
            if self._page.startswith(">", self._at):
                self._at += 1
                is_closed = blanks is not None and blanks[0].endswith("/")
                return (name[0].lower() if name else ""), is_closed
            attribute = _ATTRIBUTE.match(self._page, self._at)
            if attribute is None:
                self._at = len(self._page)
                return "", False
            self._at = attribute.end()

    def _comment(self, kind: str) -> None:
        """Go behind a comment, or what a browser takes for one."""
        pattern = _COMMENT if kind == "<!--" else _TAKEN_FOR_COMMENT
        match = pattern.match(self._page, self._at)
        self._at = match.end() if match else len(self._page)

    def _text(self, name: str) -> str | None:
        """Go to the end of an element's text and return it; None when the element is not closed."""
        end = re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE).search(self._page, self._at)
        start, self._at = self._at, len(self._page) if end is None else end.start()
        if end is None:
            return None
        return html.unescape(self._page[start : self._at])

    def _script(self) -> None:
        """Go to the end of a script; one within a comment within it is a part of it."""
        depth = 0
        while match := _SCRIPT.search(self._page, self._at):
            self._at = match.end()
            if match[0] == "<!":
                depth = depth or 1
            elif match[0] == "-->":
                depth = 0
            elif not match[1]:
                depth = depth and 2
            elif depth == 2:  # noqa: PLR2004 - a script in the comment ends
                depth = 1
            else:
                self._at = match.start()
                return
        self._at = len(self._page)
