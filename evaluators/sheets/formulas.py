"""Formulas as texts: notation that does not matter, and calls of functions in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_QUOTED = re.compile(r'("(?:[^"]|"")*")')
_PREFIXES = re.compile(r"\b(?:_XLFN\.|_XLWS\.|COM\.MICROSOFT\.|COM\.SUN\.STAR\.)+(?=[A-Z])")
"""Prefixes of newer functions in files, which programs do not display."""
_TRUTHS = re.compile(r"\b(TRUE|FALSE)\(\)")
"""LibreOffice's representation of an entered TRUE."""
_CELL = r"[A-Z]{1,3}[1-9][0-9]*"
_RANGE = re.compile(rf"\b({_CELL}):({_CELL})\b")
_TWICE = re.compile(rf"(?<![\w.])([\w.]+)\.({_CELL}):\1\.(?={_CELL})")
"""A range with the name of its sheet at both ends."""
_PLUS = re.compile(r"(?<=[=(,<>*/^&+-])\+")
_ATOM = re.compile(r"(?<![\w.])\(([\w.:]+)\)")
_CONSTANT = re.compile(r"(?<![\w.$:])\d+(?:\.\d+)?(?:E[+-]?\d+)?(?![\w:])", re.IGNORECASE)
_OPERATORS = "<>="


def is_same_formula(formula: str, other: str, sheet: str) -> bool:
    """Return whether two formulas of a sheet differ only in their notation.

    Args:
        formula: a formula in A1 notation, with its leading ``=``.
        other: another.
        sheet: name of the sheet of both.
    """
    return bool(formula) and _normal(formula, sheet) == _normal(other, sheet)


def _normal(formula: str, sheet: str) -> str:
    """Return a formula without what does not matter; quoted texts are kept."""
    pieces = _QUOTED.split(formula.strip())
    texts = pieces[1::2]
    # A private character stands for each quoted text, so that brackets around it are seen.
    plain = "\ue000".join(_plain(piece) for piece in pieces[::2])
    own = "".join(sheet.upper().split())
    plain = re.sub(rf"(?<![\w.]){re.escape(own)}\.(?={_CELL})", "", plain)
    plain = _RANGE.sub(_ordered, _TWICE.sub(r"\1.\2:", plain))
    before = ""
    while before != plain:
        before = plain
        plain = _ATOM.sub(r"\1", _PLUS.sub("", plain))
        plain = _without_brackets(plain)
    parts = plain.split("\ue000")
    return "".join(part + text for part, text in zip(parts, [*texts, ""], strict=True))


def _plain(piece: str) -> str:
    text = re.sub(r"[\s$'{}]", "", piece).upper().replace(";", ",").replace("!", ".")
    return _TRUTHS.sub(r"\1", _PREFIXES.sub("", text))


def _ordered(match: re.Match[str]) -> str:
    places = [re.fullmatch(r"([A-Z]+)(\d+)", match[number]) for number in (1, 2)]
    columns = sorted((place[1] for place in places if place), key=lambda name: (len(name), name))
    rows = sorted(int(place[2]) for place in places if place)
    return f"{columns[0]}{rows[0]}:{columns[1]}{rows[1]}"


def _without_brackets(text: str) -> str:
    """Return a formula without one pair of brackets that holds a whole formula or argument."""
    for start, mark in enumerate(text):
        if mark != "(" or start == 0 or text[start - 1] not in "=(,":
            continue
        end = _end_of(text, start)
        inner = text[start + 1 : end]
        if text[end + 1 : end + 2] in {"", ")", ","} and not _has_list(inner):
            return f"{text[:start]}{inner}{text[end + 1 :]}"
    return text


def _has_list(text: str) -> bool:
    depth = 0
    for mark in text:
        depth += (mark == "(") - (mark == ")")
        if mark == "," and depth == 0:
            return True
    return False


def _end_of(text: str, start: int) -> int:
    """Return the place of the bracket that closes the one at `start`; the end if none does."""
    depth, is_quoted = 0, False
    for place in range(start, len(text)):
        mark = text[place]
        is_quoted ^= mark == '"'
        if not is_quoted:
            depth += (mark == "(") - (mark == ")")
            if depth == 0:
                return place
    return len(text)


def calls_of(formula: str, function: str) -> list[tuple[int, int]]:
    """Return start and end of the calls of a function that are not in another call of it."""
    quoted = [match.span() for match in _QUOTED.finditer(formula)]
    name = re.compile(rf"(?<![\w.]){re.escape(function)}(?:\.XCL)?\(", re.IGNORECASE)
    calls: list[tuple[int, int]] = []
    for match in name.finditer(formula):
        is_text = any(start <= match.start() < end for start, end in quoted)
        if not is_text and (not calls or match.start() >= calls[-1][1]):
            calls.append((match.start(), _end_of(formula, match.end() - 1) + 1))
    return calls


def replace_calls(formula: str, function: str, by: Callable[[str], str]) -> str:
    """Return a formula with other expressions in place of the calls of a function."""
    for start, end in reversed(calls_of(formula, function)):
        formula = f"{formula[:start]}{by(formula[start:end])}{formula[end:]}"
    return formula


def numbers_in(formula: str) -> list[float]:
    """Return the numbers that are typed into a formula, outside quotes."""
    plain = "".join(_QUOTED.split(formula)[::2])
    return [float(text) for text in _CONSTANT.findall(plain)]


def texts_in(formula: str) -> list[str]:
    """Return the texts that are typed into a formula."""
    return [text[1:-1].replace('""', '"') for text in _QUOTED.split(formula)[1::2]]


def criteria_in(formula: str) -> list[float | str]:
    """Return the values with which a formula may compare cells: ``1`` for ``"<>1"``."""
    found: list[float | str] = list(numbers_in(formula))
    for text in texts_in(formula):
        plain = text.lstrip(_OPERATORS)
        try:
            found.append(float(plain))
        except ValueError:
            found.append(plain)
    return found
