"""Formatting of characters and colours, common to all kinds of documents of LibreOffice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_AUTOMATIC = -1
_BOLD = 110.0
"""Source: com.sun.star.awt.FontWeight: SEMIBOLD."""
_FIELD = "TextField"
_RAISED, _LOWERED = 10, -5
"""Least part of a font's height, in percent, by which characters are visibly raised or lowered."""
_CAPITALS, _LOWER, _FIRST = (1, 4), 2, 3
_SCRIPTS = (
    ("Asian", "\u1100", "\u11ff"),
    ("Asian", "\u2e80", "\ud7ff"),
    ("Asian", "\uf900", "\ufaff"),
    ("Asian", "\uff66", "\uffdc"),
    ("Asian", "\U00020000", "\U0003ffff"),
    ("Complex", "\u0590", "\u109f"),
    ("Complex", "\u1780", "\u18af"),
    ("Complex", "\ufb1d", "\ufdff"),
    ("Complex", "\ufe70", "\ufefc"),
)
"""Scripts with properties of their own, by their letters. Source: com.sun.star.i18n.ScriptType."""
_UNDERLINE = {0: "", 1: "single", 2: "double", 3: "dotted"}
"""Source: com.sun.star.awt.FontUnderline."""


def color(value: int) -> str | None:
    """Return a colour as ``#rrggbb``; None for automatic or transparent."""
    return None if value == _AUTOMATIC else f"#{value & 0xFFFFFF:06x}"


def character_format(thing: Any, text: str = "") -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    """Return the formatting of the characters of a cell, paragraph or run.

    Args:
        thing: what has the properties of LibreOffice.
        text: its text, of whose scripts the formatting counts: each kind of script has its own.
    """
    values = dict(zip(_CHARACTERS, thing.getPropertyValues(_CHARACTERS), strict=True))
    first, *others = scripts_of(text)
    if first or others:
        names = [name + script for script in (first, *others) for name in _BY_SCRIPT]
        values.update(zip(names, thing.getPropertyValues(tuple(names)), strict=True))
    weight = min(float(values[f"CharWeight{script}"]) for script in (first, *others))
    postures = {values[f"CharPosture{script}"].value for script in (first, *others)}
    return {
        "font": values[f"CharFontName{first}"],
        "size_pt": round(float(values[f"CharHeight{first}"]), 2),
        "weight": weight,
        "is_bold": weight >= _BOLD,
        "is_italic": postures <= {"ITALIC", "OBLIQUE"},
        "underline": _UNDERLINE.get(values["CharUnderline"], "other"),
        "is_struck": values["CharStrikeout"] not in {0, 3},
        "color": color(values["CharColor"]),
    }


def scripts_of(text: str) -> list[str]:
    """Return the endings of the properties of the scripts of a text: that of the Latin one is empty."""
    scripts = dict.fromkeys(
        next((name for name, low, high in _SCRIPTS if low <= letter <= high), "")
        for letter in text
        if letter.isalpha()
    )
    return list(scripts) or [""]


def paragraphs_of(text: Any) -> Iterator[Any]:  # noqa: ANN401 - UNO has no types
    """Yield the paragraphs and tables of a text."""
    enumeration = text.createEnumeration()
    while enumeration.hasMoreElements():
        yield enumeration.nextElement()


def runs_of(paragraph: Any) -> list[tuple[Any, str]]:  # noqa: ANN401 - UNO has no types
    """Return the parts of a paragraph that have text, and their texts."""
    return [(run, text) for run in paragraphs_of(paragraph) if (text := run.String)]


def read_paragraph(
    paragraph: Any,  # noqa: ANN401 - UNO has no types
    contents: Sequence[tuple[Any, str]],
    extra: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return a paragraph with its runs.

    Args:
        paragraph: the paragraph.
        contents: its runs and their texts, as `runs_of` returns them.
        extra: names of further properties of runs that this kind of document has.
    """
    values = dict(zip(_PARAGRAPHS, paragraph.getPropertyValues(_PARAGRAPHS), strict=True))
    spacing = values["ParaLineSpacing"]
    runs = [_run(run, text, extra) for run, text in contents]
    stored, drawn = "".join(text for _, text in contents), "".join(run["text"] for run in runs)
    return {
        "text": paragraph.String if stored == drawn else drawn,
        "alignment": _ALIGNMENT.get(_number_of(values["ParaAdjust"]), "other"),
        "before_mm": values["ParaTopMargin"] / 100,
        "after_mm": values["ParaBottomMargin"] / 100,
        "left_mm": values["ParaLeftMargin"] / 100,
        "right_mm": values["ParaRightMargin"] / 100,
        "first_line_mm": values["ParaFirstLineIndent"] / 100,
        # Mode 0 is proportional, in percent. Source: com.sun.star.style.LineSpacingMode.
        "line_spacing": spacing.Height / 100 if spacing.Mode == 0 else None,
        "line_height_mm": None if spacing.Mode == 0 else spacing.Height / 100,
        "tabs": [
            {"position_mm": tab.Position / 100, "alignment": tab.Alignment.value.lower()}
            for tab in values["ParaTabStops"]
            if tab.Alignment.value != "DEFAULT"
        ],
        "runs": runs,
    }


def as_drawn(text: str, case: int) -> str:
    """Return a text with the letters that an effect draws in its place; one for each, so that places stay.

    Args:
        text: the stored text.
        case: the effect, of com.sun.star.style.CaseMap: upper case, lower case, capital first letters, small capitals.
    """
    if case == _LOWER:
        return _mapped(text, str.lower)
    if case == _FIRST:
        starts = [not before.strip() for before in f" {text}"]
        pairs = zip(text, starts, strict=False)
        return "".join(_mapped(letter, str.upper) if first else letter for letter, first in pairs)
    return _mapped(text, str.upper) if case in _CAPITALS else text


def _mapped(text: str, mapping: Callable[[str], str]) -> str:
    return "".join(other if len(other := mapping(letter)) == 1 else letter for letter in text)


def _run(run: Any, text: str, extra: tuple[str, ...]) -> dict[str, Any]:  # noqa: ANN401
    further = dict(zip(extra, run.getPropertyValues(extra), strict=True)) if extra else {}
    text = as_drawn(text, further.get("CharCaseMap", 0))
    escapement = further.get("CharEscapement", 0)
    position = "super" if escapement >= _RAISED else "sub" if escapement <= _LOWERED else ""
    look = character_format(run, text)
    # The height of raised letters also applies to those that are hardly raised.
    height = further.get("CharEscapementHeight", 100)
    if not position and 0 < height < 100:  # noqa: PLR2004 - percent
        look["size_pt"] = round(look["size_pt"] * height / 100, 2)
    return {
        **look,
        "text": text,
        "highlight": color(further.get("CharHighlight", _AUTOMATIC))
        or color(further.get("CharBackColor", _AUTOMATIC)),
        "spacing_pt": round(further.get("CharKerning", 0) / 100 / 25.4 * 72, 2),
        "position": position,
        "raised_percent": escapement,
        # The automatic colour has no transparency, but LibreOffice says 100.
        "transparency_percent": further.get("CharTransparence", 0) if look["color"] else 0,
        "link": further.get("HyperLinkURL", ""),
        "field": _field(run) if further.get("TextPortionType") == _FIELD else "",
    }


def _field(run: Any) -> str:  # noqa: ANN401 - UNO has no types
    """Return the kind of a field: the last part of the name of its first service."""
    names = run.TextField.SupportedServiceNames
    return next((name.rpartition(".")[2] for name in names), "")


def _number_of(value: Any) -> int:  # noqa: ANN401 - UNO has no types
    """Return the number of an enumeration's value, which some documents give as a number."""
    return value if isinstance(value, int) else _NAMES.get(value.value, -1)


_CHARACTERS = (
    "CharColor",
    "CharFontName",
    "CharHeight",
    "CharPosture",
    "CharStrikeout",
    "CharUnderline",
    "CharWeight",
)
_BY_SCRIPT = ("CharFontName", "CharHeight", "CharPosture", "CharWeight")
_PARAGRAPHS = (
    "ParaAdjust",
    "ParaBottomMargin",
    "ParaFirstLineIndent",
    "ParaLeftMargin",
    "ParaLineSpacing",
    "ParaRightMargin",
    "ParaTabStops",
    "ParaTopMargin",
)
_ALIGNMENT = {0: "left", 1: "right", 2: "block", 3: "center", 4: "block"}
"""Source: com.sun.star.style.ParagraphAdjust."""
_NAMES = {"LEFT": 0, "RIGHT": 1, "BLOCK": 2, "CENTER": 3, "STRETCH": 4}
