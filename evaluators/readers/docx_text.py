"""Read the visible text of .docx paragraphs, with tracked changes accepted and without hidden text."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from evaluators.readers.docx_tree import WORD
from evaluators.readers.model import Paragraph, Run
from evaluators.readers.visibility import PAPER, SMALLEST_PT, is_visible

if TYPE_CHECKING:
    from collections.abc import Callable

_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_ALIGNMENTS = {
    "start": "left",
    "end": "right",
    "both": "justify",
    "distribute": "justify",
    "thaiDistribute": "justify",
}
_HIGHLIGHTS = {
    "black": "000000", "blue": "0000ff", "cyan": "00ffff", "darkBlue": "000080", "darkCyan": "008080",
    "darkGray": "808080", "darkGreen": "008000", "darkMagenta": "800080", "darkRed": "800000",
    "darkYellow": "808000", "green": "00ff00", "lightGray": "c0c0c0", "magenta": "ff00ff",
    "red": "ff0000", "white": "ffffff", "yellow": "ffff00",
}  # fmt: skip
"""Source: ECMA-376, 17.18.40."""
_SYMBOL = "\ufffd"
"""Placeholder for a character of a symbol font."""
_MIRRORED = {"start": "right", "left": "right", "end": "left", "right": "left"}
"""Alignments of right-to-left paragraphs, in which left and right mean start and end."""
_MAX_DEPTH = 32
_BODY_LEVEL = 10
"""Level of text that is not a heading, counted from 1."""
_USUAL_PT = 11.0
_ALIGNED = "./w:pPr/w:jc/@w:val"
_PAPER_THEMES = frozenset({"background1", "light1", "bg1", "lt1"})
"""Names of the theme's background colour, which is white in the themes supplied with programs."""
_FILL = "./w:rPr/*[local-name()='textFill']/*[local-name()='solidFill']/*/@*[local-name()='val']"
_NO_FILL = "./w:rPr/*[local-name()='textFill']/*[local-name()='noFill']"


def read_paragraph(paragraph: Any, ground: str = "") -> Paragraph:  # noqa: ANN401 - a foreign class
    """Read the visible part of a python-docx paragraph; `ground` is the background colour of its cell."""
    style = style_of(paragraph)
    alignment = (
        _property(paragraph.paragraph_format.element, _ALIGNED)
        or inherited(style, lambda style: _property(style.element, _ALIGNED))
        or _property(_defaults(paragraph.part).element, _ALIGNED)
    )
    runs = _visible_runs(paragraph, ground)
    if _runs_leftwards(paragraph):
        alignment = _MIRRORED.get(alignment or "start", alignment)
    return Paragraph(
        "".join(run.text for run in runs),
        style.name if style is not None else "",
        _level(paragraph),
        _ALIGNMENTS.get(alignment, alignment) if alignment else "",
        runs,
    )


def read_paragraphs(document: Any) -> tuple[Paragraph, ...]:  # noqa: ANN401
    """Read the paragraphs of a document's body, which must have been reduced with `reduce_body`.

    If the deletion of a paragraph's mark is tracked, it is joined with the next paragraph.
    """
    from docx.text.paragraph import Paragraph as DocxParagraph  # noqa: PLC0415 - as above

    body = document.element.body
    paragraphs: list[Paragraph] = []
    is_joined = False
    for element in body.xpath("./w:p"):
        paragraph = read_paragraph(DocxParagraph(element, document._body))  # noqa: SLF001 - no other way
        if is_joined:
            before = paragraphs.pop()
            runs = (*before.runs, *paragraph.runs)
            paragraph = replace(paragraph, text="".join(run.text for run in runs), runs=runs)
        paragraphs.append(paragraph)
        is_joined = bool(element.xpath("./w:pPr/w:rPr/w:del"))
    return tuple(paragraphs)


def _runs_leftwards(paragraph: Any) -> bool:  # noqa: ANN401
    def look(element: Any) -> str | None:  # noqa: ANN401
        bidi_elements = element.xpath("./w:pPr/w:bidi")
        return str(bidi_elements[0].get(f"{WORD}val", "1")) if bidi_elements else None

    own = look(paragraph._p) or inherited(style_of(paragraph), lambda style: look(style.element))  # noqa: SLF001
    return own not in {None, "0", "false", "off"}


def _level(paragraph: Any) -> int:  # noqa: ANN401
    """Return the level of a heading, set by the paragraph, its style or a base style; 0 if it is not a heading.

    Source: ECMA-376, 17.3.1.20: outline levels are numbered from 0, and 9 is body text.
    """

    def level(element: Any, name: str) -> int | None:  # noqa: ANN401
        outline = _property(element, "./w:pPr/w:outlineLvl/@w:val")
        if outline is not None and outline.isdecimal():
            return (int(outline) + 1) % _BODY_LEVEL
        heading = _HEADING.fullmatch(name)
        return int(heading[1]) if heading else None

    own = level(paragraph._p, "")  # noqa: SLF001 - python-docx has no other way
    styled = inherited(style_of(paragraph), lambda style: level(style.element, style.name or ""))
    return (styled if own is None else own) or 0


def _visible_runs(paragraph: Any, ground: str) -> tuple[Run, ...]:  # noqa: ANN401
    seen = (_read_run(run, paragraph, ground) for run in paragraph.runs if _text(run))
    return tuple(run for run in seen if run is not None)


def _text(run: Any) -> str:  # noqa: ANN401
    return str(run.text) + _SYMBOL * len(run._r.xpath("./w:sym"))  # noqa: SLF001


def is_hidden(run: Any, paragraph: Any) -> bool:  # noqa: ANN401
    """Return whether a run of a paragraph is marked as hidden."""
    return bool(_look(run, paragraph, lambda source: source.font.hidden))


def _look(run: Any, paragraph: Any, get: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """Return a property set by a run, its style, its paragraph's style, or the document's defaults."""
    styled = (inherited(style_of(part), get) for part in (run, paragraph))
    for value in chain((get(run),), styled):
        if value is not None:
            return value
    return get(_defaults(paragraph.part))


def _read_run(run: Any, paragraph: Any, ground: str) -> Run | None:  # noqa: ANN401
    """Return a run with its formatting; None if it is not visible."""
    look = partial(_look, run, paragraph)
    size = look(lambda source: source.font.size)
    size_pt = float(size.pt) if size is not None else None
    colour = str(look(_colour) or "").lower()
    fill = look(_background) or shading(paragraph._p.xpath("./w:pPr/w:shd")) or ground  # noqa: SLF001
    scale = look(lambda source: _property(source.element, "./w:rPr/w:w/@w:val")) or "100"
    width_pt = (_USUAL_PT if size_pt is None else size_pt) * float(scale.rstrip("%")) / 100
    is_unseen = is_hidden(run, paragraph) or width_pt < SMALLEST_PT
    is_unseen = is_unseen or look(lambda source: _property(source.element, _NO_FILL)) is not None
    if is_unseen or not is_visible(size_pt, colour, fill.lower()):
        return None
    return Run(
        _text(run),
        bold=bool(look(lambda source: source.font.bold)),
        italic=bool(look(lambda source: source.font.italic)),
        underline=bool(look(lambda source: source.font.underline))
        and is_visible(size_pt, str(look(_line_colour) or colour).lower(), fill.lower()),
        colour=colour,
        size_pt=size_pt,
    )


def _colour(styled: Any) -> str | None:  # noqa: ANN401
    """Return the colour of a run's or style's text; its fill takes precedence over its colour."""
    theme = _property(styled.element, "./w:rPr/w:color/@w:themeColor")
    colour = _property(styled.element, _FILL) or (theme if theme in _PAPER_THEMES else None)
    rgb = PAPER if colour in _PAPER_THEMES else colour or styled.font.color.rgb
    return None if rgb is None else str(rgb)


def _line_colour(styled: Any) -> str | None:  # noqa: ANN401
    """Return the colour of a run's or style's underline; the theme's takes precedence over its own."""
    theme = _property(styled.element, "./w:rPr/w:u/@w:themeColor")
    return PAPER if theme in _PAPER_THEMES else _property(styled.element, "./w:rPr/w:u/@w:color")


def _background(styled: Any) -> str | None:  # noqa: ANN401
    """Return the highlight or shading of a run or style."""
    name = _property(styled.element, "./w:rPr/w:highlight/@w:val")
    if name and name != "none":
        return _HIGHLIGHTS.get(name)
    return shading(styled.element.xpath("./w:rPr/w:shd")) or shading(
        styled.element.xpath("./w:pPr/w:shd")
    )


def shading(elements: list[Any]) -> str | None:
    """Return the colour of shading: the pattern's if it is solid, else the background's."""
    if not elements:
        return None
    is_solid = elements[0].get(f"{WORD}val") == "solid"
    colour = elements[0].get(f"{WORD}{'color' if is_solid else 'fill'}")
    return str(colour) if colour and colour != "auto" else None


def style_of(text: Any) -> Any:  # noqa: ANN401
    """Return the style of a run or paragraph; None if it has none.

    Styles are cached, because python-docx searches all styles at each access.
    """
    known = _known_styles(text.part)
    key = (type(text), text._element.style)  # noqa: SLF001
    if key not in known:
        known[key] = text.style
    return known[key]


@lru_cache(maxsize=1)
def _known_styles(_part: Any) -> dict[tuple[type, str | None], Any]:  # noqa: ANN401
    return {}


def _property(element: Any, path: str) -> str | None:  # noqa: ANN401
    matches = element.xpath(path)
    return str(matches[0]) if matches else None


@lru_cache(maxsize=1)
def _defaults(part: Any) -> Any:  # noqa: ANN401
    """Return the defaults that a document sets for its text, in the form of a style."""
    from docx.oxml import OxmlElement  # noqa: PLC0415 - only in the reader's process
    from docx.styles.style import ParagraphStyle  # noqa: PLC0415

    style = OxmlElement("w:style")
    for kind in ("rPr", "pPr"):
        style.extend(
            deepcopy(part.styles.element.xpath(f"./w:docDefaults/w:{kind}Default/w:{kind}"))
        )
    return ParagraphStyle(style)


def inherited(style: Any, look: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """Return the value set by a style or the nearest of its base styles; None if it is not set."""
    for _ in range(_MAX_DEPTH):
        if style is None:
            return None
        value = look(style)
        if value is not None:
            return value
        style = style.base_style
    return None
