"""Parse numbers, dates and lists as people write them, in time linear in the text."""

from __future__ import annotations

import functools
import re
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from dateutil.parser import ParserError, parse, parserinfo

from evaluators.folding import plain as fold

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Collection, Iterable, Sequence

_MARKUP = ("**", "`")
_STRAIGHT = (("\u2018", "'"), ("\u2019", "'"), ("\u201c", '"'), ("\u201d", '"'), ("\u201e", '"'))
_UNSEEN = "\u200b\u2060\ufeff"
"""Zero-width characters, which are often copied together with text of web pages."""
_ENDS = f" {_UNSEEN}"
_STOPS = ".\u3002"
"""Full stops, the Latin and the ideographic one."""
_OPENING = "\"'\u00ab"
_CLOSING = "\"'\u00bb"
_DIGITS = r"[0-9]{1,30}"
_NUMBER = re.compile(rf"[-+]?(?:{_DIGITS}(?:\.[0-9]{{0,30}})?|\.{_DIGITS})")
_GROUPED = re.compile(r"([-+]?[0-9]{1,3}(?:,[0-9]{3}){1,9})(\.[0-9]{0,30})?")
_LEADING = re.compile(r"(?P<sign>[-+]?)0*(?P<rest>[0-9.].*)")
"""The sign, the leading zeros and the rest of a number."""
_MINUS = "\u2212"
_SEPARATORS = re.compile(r"[,;\n]")
_BULLET = re.compile(r"(?:[-*\u2022\u2013\u2014]|\(?(?P<number>[0-9]{1,3})[.)]|\(?[a-z]\))\s")
_AND = re.compile(r"(?<= )(?:and|&)(?= )")
_LEADING_AND = re.compile(r"(?:and|&) ")
_NAMES = parserinfo()
_DAY = r"[0-9]{1,2}(?:st|nd|rd|th)?\.?"
_MONTH = r"(?P<month>[a-z]{3,9})"
_MONTHS = 12
_YEAR_FIRST = re.compile(r"[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}")
_YEAR_LAST = re.compile(r"(?P<one>[0-9]{1,2})(?P<sign>[-/.])(?P<two>[0-9]{1,2})(?P=sign)[0-9]{4}")
_NAMED = tuple(
    re.compile(shape)
    for shape in (
        rf"{_DAY}(?: of)?[ -/]{_MONTH}\.?,?[ -/][0-9]{{4}}",
        rf"{_MONTH}\.?[ -](?:the )?{_DAY},?[ -][0-9]{{4}}",
        rf"[0-9]{{4}}[ -]{_MONTH}\.?[ -][0-9]{{1,2}}",
    )
)
_WEEKDAYS = (
    re.compile(r"(?P<name>[a-z]{3,9})\.?,? (?P<rest>.+)"),
    re.compile(r"(?P<rest>.+?),? \(?(?P<name>[a-z]{3,9})\)?"),
)


def strip_markup(text: str) -> str:
    """Return an answer without the markup of one pair of ``**`` or backticks around the whole."""
    plain = text.strip().strip(_ENDS)
    plain = plain[:-1] if plain.endswith(tuple(_STOPS)) else plain
    for mark in _MARKUP:
        inner = plain.removeprefix(mark).removesuffix(mark)
        if len(plain) - len(inner) == 2 * len(mark) and inner and mark not in inner:
            return inner
    return text


def is_one_of(answer: str, accepted: Iterable[str]) -> bool:
    """Return whether an answer equals an accepted one, apart from differences that do not count."""
    wanted = frozenset(map(normalize, accepted))
    return any(_reading(text, wanted) in wanted for text in (answer, strip_markup(answer)))


def normalize(text: str) -> str:
    """Return a text without the differences that do not count.

    Apply Unicode NFKC (except to superscript digits and fractions next to digits), fold case,
    straighten quotes and apostrophes, remove soft hyphens, replace runs of white space by one
    space, and remove zero-width characters at the ends, one pair of quotes around the whole and
    full stops at the end. In a number, U+2212 becomes a hyphen.
    """
    plain = _without_stops(_fold(text))
    if len(plain) > 1 and plain[0] in _OPENING and plain[-1] in _CLOSING:
        plain = _without_stops(plain[1:-1])
    number = plain.replace(_MINUS, "-", 1)
    return number if plain.startswith(_MINUS) and _NUMBER.fullmatch(number) else plain


def _without_stops(text: str) -> str:
    return text.strip(_ENDS).rstrip(_ENDS + _STOPS)


def _reading(text: str, wanted: Collection[str]) -> str:
    """Return an answer normalised, as the wanted answer that it is.

    If it is a number, its leading zeros and its plus sign count only if the wanted answer has some.
    """
    plain = normalize(text)
    if plain in wanted or not _NUMBER.fullmatch(plain):
        return plain
    number = _LEADING.fullmatch(plain)
    if number is None:
        return plain
    sign, rest = number["sign"], number["rest"]
    return next((form for form in (sign + rest, sign.strip("+") + rest) if form in wanted), plain)


def _fold(text: str) -> str:
    plain = fold(text)
    for typographic, straight in _STRAIGHT:
        plain = plain.replace(typographic, straight)
    return " ".join(plain.casefold().split())


def read_number(text: str, *, thousands: bool = False) -> Fraction | None:
    """Return the exact value of a plain decimal number; None for anything else.

    ``12``, ``+12.50``, ``.5``, ``5.``, ``007`` and ``-5`` with a hyphen or with U+2212, at most 30
    digits before and after the point, after `strip_markup` and `normalize`, as for other answers.

    Args:
        text: the number.
        thousands: whether commas may separate groups of three digits, as in ``1,234.5``.
    """
    plain = normalize(strip_markup(text))
    if plain.startswith(_MINUS):
        plain = f"-{plain[1:]}"
    if thousands and (grouped := _GROUPED.fullmatch(plain)):
        plain = grouped[1].replace(",", "") + (grouped[2] or "")
    return Fraction(plain) if _NUMBER.fullmatch(plain) else None


def read_date(text: str, *, day_first: bool | None = None) -> dt.date | None:
    """Return the date in a text; None if it is not a date or is ambiguous.

    The formats are those in the docstring of ``answer_is_date``.

    Args:
        text: the date.
        day_first: whether ``05/06/2026`` is the 5th of June; None if unknown.
    """
    weekday, plain = _split_weekday(normalize(strip_markup(text)))
    date = _read_day(plain.removeprefix("the "), day_first=day_first)
    return date if date is None or weekday in {None, date.weekday()} else None


def _split_weekday(text: str) -> tuple[int | None, str]:
    """Return the weekday before or after a date, if any, and the date."""
    for shape in _WEEKDAYS:
        if match := shape.fullmatch(text):
            weekday = _NAMES.weekday(match["name"])
            if weekday is not None:
                return weekday, match["rest"]
    return None, text


def _read_day(text: str, *, day_first: bool | None) -> dt.date | None:
    """Return a date without a weekday; dateutil parses texts in one of the accepted formats."""
    is_day_first = day_first
    if numeric := _YEAR_LAST.fullmatch(text):
        first, second = int(numeric["one"]), int(numeric["two"])
        is_day_first = True if numeric["sign"] == "." else day_first
        if is_day_first is None:
            is_day_first = first == second or first > _MONTHS
            if not is_day_first and second <= _MONTHS:
                return None
        if (second if is_day_first else first) > _MONTHS:
            return None
    elif _YEAR_FIRST.fullmatch(text):
        is_day_first = False
    elif not _has_month(text):
        return None
    try:
        return parse(text.replace(" the ", " "), dayfirst=bool(is_day_first)).date()
    except (ParserError, OverflowError):
        return None


def _has_month(text: str) -> bool:
    return any(
        _NAMES.month(match["month"]) is not None
        for shape in _NAMED
        if (match := shape.fullmatch(text))
    )


def lists_items(text: str, expected: Sequence[str], *, in_order: bool) -> bool:
    """Return whether a text lists exactly these items.

    Separators are commas, semicolons and line breaks, and ``and`` or ``&`` before the last item,
    which may contain these words itself. Square brackets around the whole are ignored, as in a JSON
    list. If the order counts, numbers before items must agree with it.

    Args:
        text: the list.
        expected: the items; if empty, the result is always False.
        in_order: whether their order counts.
    """
    wanted = [normalize(item) for item in expected]
    normal = functools.cache(functools.partial(_reading, wanted=frozenset(wanted)))
    raw = [part.strip() for part in _SEPARATORS.split(_unbracketed(text))]
    bare = [part if normal(part) in wanted else _without_dress(part) for part in raw]
    parts = [part for part in bare if normal(part)]
    numbered = [part for part in raw if normal(part) not in wanted]
    if not parts or not wanted or (in_order and not _is_counted_up(numbered)):
        return False
    *head, last = parts
    left = _without(wanted, [normal(part) for part in head], in_order=in_order)
    if left is not None and len(left) == 1:
        return left[0] in {normal(last), *_without_lead(last, normal, has_head=bool(head))}
    if left is None or len(left) != 2:  # noqa: PLR2004 - "and" joins two
        return False
    orders = (left,) if in_order else (left, left[::-1])
    return any(_is_pair(last, order, normal) for order in orders)


def _unbracketed(text: str) -> str:
    plain = strip_markup(text.strip())
    return plain[1:-1] if plain.startswith("[") and plain.endswith("]") else plain


def _without_dress(part: str) -> str:
    bullet = _BULLET.match(part)
    return strip_markup(part[bullet.end() :] if bullet else part)


def _is_counted_up(parts: Sequence[str]) -> bool:
    """Return whether the numbers before items do not decrease."""
    bullets = [_BULLET.match(part) for part in parts]
    numbers = [int(match["number"]) for match in bullets if match and match["number"]]
    return numbers == sorted(numbers)


def _without(wanted: list[str], head: list[str], *, in_order: bool) -> list[str] | None:
    """Return the items that remain after removing those of `head`; None if one is missing."""
    if in_order:
        return wanted[len(head) :] if wanted[: len(head)] == head else None
    missing, surplus = Counter(wanted), Counter(head)
    return None if surplus - missing else list((missing - surplus).elements())


def _without_lead(last: str, normal: Callable[[str], str], *, has_head: bool) -> set[str]:
    """Return the last of several items without the conjunction before it; empty if there is none."""
    folded = _fold(last) if has_head else ""
    lead = _LEADING_AND.match(folded)
    return {normal(strip_markup(folded[lead.end() :]))} if lead else set()


def _is_pair(text: str, items: Sequence[str], normal: Callable[[str], str]) -> bool:
    """Return whether a text is two items joined by a conjunction, which may also occur within them."""
    folded = _fold(text)
    joints = list(_AND.finditer(folded))
    inner = [len(_AND.findall(item)) for item in items]
    if len(joints) != sum(inner) + 1:
        return False
    joint = joints[inner[0]]
    sides = (folded[: joint.start()], folded[joint.end() :])
    return [normal(strip_markup(side)) for side in sides] == list(items)
