"""Title of an HTML page, as displayed by a browser with scripting before any script has run.

If only a complete browser could determine the first title, there is none here: for pages with a
template, table, select element, frames or formula before it. Pages are parsed in linear time.
Python's `html.parser` is not used, because its treatment of comments depends on the version.

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
"""Elements whose content is text, even if it contains markup."""
_UNTOLD = frozenset({"template", "table", "select", "frameset", "math", "plaintext"})
_SHAPES = frozenset({
    "circle", "clippath", "defs", "ellipse", "g", "line", "lineargradient", "mask", "path", "polygon",
    "polyline", "radialgradient", "rect", "stop", "svg", "symbol", "text", "title", "tspan", "use",
})  # fmt: skip
"""Elements of SVG pictures, in which a title is not the page's title."""


def title_of(page: str) -> str | None:
    """Return a page's title; None if there is none, or only a browser could determine it."""
    return _Reader(page).title()


class _Reader:
    """Scanner of a page's markup up to its first title.

    Args:
        page: HTML.
    """

    def __init__(self, page: str) -> None:
        self._page = page
        self._at = 0
        self._shapes: list[str] = []

    def title(self) -> str | None:
        """Return the title; see `title_of`."""
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
        """Continue after a tag; return whether the following markup can be interpreted."""
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
        """Process a tag of an SVG picture; tags within its title are not supported."""
        if is_end:
            return self._shapes.pop() == name
        is_in_title = self._shapes[-1:] == ["title"]
        if not is_closed:
            self._shapes.append(name)
        return name in _SHAPES and not is_in_title

    def _tag(self, *, is_end: bool) -> tuple[str, bool]:
        """Skip a tag; return its name (empty for an unclosed tag), and whether it ends with a slash."""
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
        """Skip a comment, or markup that a browser treats as one."""
        pattern = _COMMENT if kind == "<!--" else _TAKEN_FOR_COMMENT
        match = pattern.match(self._page, self._at)
        self._at = match.end() if match else len(self._page)

    def _text(self, name: str) -> str | None:
        """Advance to the end of an element's text and return it; None if the element is not closed."""
        end = re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE).search(self._page, self._at)
        start, self._at = self._at, len(self._page) if end is None else end.start()
        if end is None:
            return None
        return html.unescape(self._page[start : self._at])

    def _script(self) -> None:
        """Advance to the end of a script; scripts in comments within it are part of it."""
        depth = 0
        while match := _SCRIPT.search(self._page, self._at):
            self._at = match.end()
            if match[0] == "<!":
                depth = depth or 1
            elif match[0] == "-->":
                depth = 0
            elif not match[1]:
                depth = depth and 2
            elif depth == 2:  # noqa: PLR2004 - end of a script in the comment
                depth = 1
            else:
                self._at = match.start()
                return
        self._at = len(self._page)
