"""Visible text: Unicode in NFC, white space collapsed, HTML without hidden elements.

HTML is parsed in linear time; Python's `html.parser` needs minutes for some pages of 64 KiB.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_DEPTH = 200
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f"
    "\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Format characters (Cf), and others that fonts do not draw.

Source: Unicode 15, ``Default_Ignorable_Code_Point`` of DerivedCoreProperties.txt.
"""
_MARKUP = re.compile(r"<(/?)([a-z][a-z0-9]*)([^<>]*)>", re.IGNORECASE)
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "big", "code", "em", "font", "i", "img", "ins", "kbd", "mark",
    "s", "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
})  # fmt: skip
_WITHOUT_END = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr",
})  # fmt: skip
_UNSEEN = frozenset({
    "audio", "canvas", "datalist", "dialog", "head", "iframe", "noscript", "object", "script",
    "style", "svg", "template", "title", "video",
})  # fmt: skip
_SHEET = re.compile(r"<style\b[^<>]*>(.*?)(?:</style|\Z)", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_WHITE_FONT = re.compile(r"\bcolor\s*=[\s\"']*(?:white|#?f{6})\b", re.IGNORECASE)
_STYLE = re.compile(r"\bstyle\s*=\s*(\"[^\"]*\"|'[^']*'|\S+)", re.IGNORECASE)
_ZERO = r"(?:0+(?:\.0*)?|\.0+)"
_UNSEEN_STYLE = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|\\|opacity\(0|(?<![a-z-])(?:"
    r"content:|clip|mask|transform:|(?:opacity|font-size|line-height|(?:max-)?(?:height|width)):"
    rf"{_ZERO}(?![0-9.])|color:(?:white|transparent|#f{{3,4}}(?![0-9a-f])|#f{{6}}"
    rf"|rgba?\(255,255,255|[a-z]+\([^()]*,{_ZERO}\)))|(?:left|right|top|bottom|indent):-(?:\d{{3}}|\d\dem)"
)
"""Declarations that hide text, or show other text; white counts as the background colour."""
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_HIDDEN = re.compile(r"(?:\A|\s)hidden(?=[\s=/]|\Z)", re.IGNORECASE)


def shown(text: str) -> str:
    """Return a text in Unicode NFC, without invisible characters and with white space collapsed."""
    return " ".join(look_of(text).split())


def without_invisible(text: str) -> str:
    """Return a text without characters that nobody sees; white space is kept."""
    return _INVISIBLE.sub("", text)


def look_of(name: str) -> str:
    """Return what two names have in common that look alike: invisible characters and Unicode forms do not count."""
    return unicodedata.normalize("NFC", without_invisible(name))


def alike(names: Iterable[str], wanted: str) -> set[str]:
    """Return the different names that look like the wanted one, without surrounding white space.

    A person cannot tell apart names that differ only in invisible characters: which of them is
    meant is unknown.
    """
    look = look_of(wanted).strip()
    return {
        unicodedata.normalize("NFC", name).strip()
        for name in names
        if look_of(name).strip() == look
    }


def html_text(page: str) -> str:
    """Return the visible text of a page, normalised like `shown`.

    Elements that are hidden by their name, the attribute ``hidden`` or an inline style are left
    out. Style sheets are only checked for declarations that hide something.

    Raises:
        ValueError: elements are nested too deeply, or a style sheet hides something.
    """
    page = _without_comments(page)
    if any(map(_is_unseen_style, _SHEET.findall(page))):
        raise ValueError("a style sheet hides something")
    pieces: list[str] = []
    inside: list[tuple[str, bool]] = []
    end = 0
    for markup in _MARKUP.finditer(page):
        _collect(page[end : markup.start()], inside, pieces)
        end = markup.end()
        _enter_or_leave(markup, inside)
        pieces.append("" if markup[2].lower() in _INLINE else " ")
    _collect(page[end:], inside, pieces)
    return shown("".join(pieces))


def _collect(text: str, inside: list[tuple[str, bool]], pieces: list[str]) -> None:
    if not inside or not inside[-1][1]:
        pieces.append(html.unescape(text))


def _enter_or_leave(markup: re.Match[str], inside: list[tuple[str, bool]]) -> None:
    """Update the list of open elements, and whether each is hidden."""
    slash, name, attributes = markup[1], markup[2].lower(), markup[3]
    if slash:
        if any(element == name for element, _ in inside):
            while inside.pop()[0] != name:
                pass
    elif name not in _WITHOUT_END:
        is_white = name == "font" and _WHITE_FONT.search(attributes) is not None
        is_unseen = name in _UNSEEN or is_white or _hides(attributes)
        inside.append((name, is_unseen or bool(inside and inside[-1][1])))
        if len(inside) > _MAX_DEPTH:
            raise ValueError("elements are nested too deeply")


def _hides(attributes: str) -> bool:
    is_hidden = _HIDDEN.search(_QUOTED.sub("", attributes)) is not None
    return is_hidden or _is_unseen_style("".join(_STYLE.findall(attributes)))


def _is_unseen_style(style: str) -> bool:
    """Return whether CSS declarations hide text, or may hide it: white, moved, or written with escapes."""
    plain = "".join(_COMMENT.sub("", html.unescape(style)).lower().split())
    return _UNSEEN_STYLE.search(plain) is not None


def _without_comments(page: str) -> str:
    first, *rest = page.split("<!--")
    return first + "".join(part.partition("-->")[2] for part in rest)
