"""Read the visible text of .docx paragraphs: tracked changes as accepted, hidden text left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evaluators.readers.model import Paragraph, Run
from evaluators.readers.visibility import SMALLEST_PT, is_visible

if TYPE_CHECKING:
    from collections.abc import Callable

_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_CONTAINERS = frozenset(
    {"ins", "moveTo", "hyperlink", "smartTag", "fldSimple", "sdt", "sdtContent", "customXml"}
)
"""Elements whose runs are shown; not ``del`` and ``moveFrom``."""
_ALIGNMENTS = {
    "start": "left",
    "end": "right",
    "both": "justify",
    "distribute": "justify",
    "thaiDistribute": "justify",
}
_HIGHLIGHTS = {"white": "ffffff", "lightGray": "c0c0c0", "black": "000000"}
_OTHER_HIGHLIGHT = "808080"
"""Stands for highlights in which neither black nor white text disappears."""
_MAX_DEPTH = 32
_BODY_LEVEL = 10
"""That of text which is no heading, numbered from 1."""
_USUAL_PT = 11.0
_NO_FILL = "./w:rPr/*[local-name()='textFill']/*[local-name()='noFill']"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def read_paragraph(paragraph: Any) -> Paragraph:  # noqa: ANN401 - a foreign class
    """Read the visible part of a python-docx paragraph."""
    style = paragraph.style.name if paragraph.style is not None else ""
    alignment = _property(paragraph.paragraph_format.element, "./w:pPr/w:jc/@w:val") or _inherited(
        paragraph.style, lambda one: _property(one.element, "./w:pPr/w:jc/@w:val")
    )
    runs = _visible_runs(paragraph)
    return Paragraph(
        "".join(run.text for run in runs),
        style,
        _level(paragraph),
        _ALIGNMENTS.get(alignment, alignment) if alignment else "",
        runs,
    )


def _level(paragraph: Any) -> int:  # noqa: ANN401
    """Return the level of a heading: the paragraph's own, or that of its style or a base style; else 0.

    Source: ECMA-376, 17.3.1.20: outline levels are numbered from 0, and 9 is that of body text.
    """

    def level(element: Any, name: str) -> int | None:  # noqa: ANN401
        outline = _property(element, "./w:pPr/w:outlineLvl/@w:val")
        if outline is not None and outline.isdecimal():
            return (int(outline) + 1) % _BODY_LEVEL
        heading = _HEADING.fullmatch(name)
        return int(heading[1]) if heading else None

    own = level(paragraph._p, "")  # noqa: SLF001 - python-docx has no other way
    styled = _inherited(paragraph.style, lambda one: level(one.element, one.name or ""))
    return (styled if own is None else own) or 0


def read_tables(document: Any) -> tuple[tuple[tuple[str, ...], ...], ...]:  # noqa: ANN401
    """Return the visible texts of a document's tables, without rows whose deletion is tracked."""
    return tuple(
        tuple(
            tuple(
                "\n".join(read_paragraph(one).text for one in cell.paragraphs) for cell in row.cells
            )
            for row in table.rows
            if not row._tr.xpath("./w:trPr/w:del")  # noqa: SLF001 - python-docx has no other way
        )
        for table in document.tables
    )


def _visible_runs(paragraph: Any) -> tuple[Run, ...]:  # noqa: ANN401
    from docx.text.run import Run as DocxRun  # noqa: PLC0415 - only in the reader's process

    runs = [DocxRun(element, paragraph) for element in _run_elements(paragraph._p, 0)]  # noqa: SLF001
    seen = (_read_run(run, paragraph) for run in runs if run.text)
    return tuple(run for run in seen if run is not None)


def _run_elements(node: Any, depth: int) -> list[Any]:  # noqa: ANN401
    """Return the runs of a paragraph in order, without deleted and moved ones."""
    if depth > _MAX_DEPTH:
        raise ValueError("runs are nested too deeply")
    found: list[Any] = []
    for child in node.iterchildren(f"{_WORD}*"):
        name = child.tag.removeprefix(_WORD)
        if name == "r":
            found.append(child)
        elif name in _CONTAINERS:
            found += _run_elements(child, depth + 1)
    return found


def _read_run(run: Any, paragraph: Any) -> Run | None:  # noqa: ANN401
    """Return a run with what it, its style and its paragraph's style set; None when it is hidden."""

    def look(get: Callable[[Any], Any]) -> Any:  # noqa: ANN401
        for value in (get(run), _inherited(run.style, get), _inherited(paragraph.style, get)):
            if value is not None:
                return value
        return None

    size = look(lambda one: one.font.size)
    size_pt = float(size.pt) if size is not None else None
    rgb = look(lambda one: one.font.color.rgb)
    colour = str(rgb).lower() if rgb is not None else ""
    fill = look(_background) or _property(paragraph._p, "./w:pPr/w:shd/@w:fill") or ""  # noqa: SLF001
    scale = look(lambda one: _property(one.element, "./w:rPr/w:w/@w:val")) or "100"
    width_pt = (_USUAL_PT if size_pt is None else size_pt) * float(scale.rstrip("%")) / 100
    is_unseen = look(lambda one: one.font.hidden) or width_pt < SMALLEST_PT
    is_unseen = is_unseen or look(lambda one: _property(one.element, _NO_FILL)) is not None
    if is_unseen or not is_visible(size_pt, colour, fill.lower()):
        return None
    return Run(
        run.text,
        bold=bool(look(lambda one: one.font.bold)),
        italic=bool(look(lambda one: one.font.italic)),
        underline=bool(look(lambda one: one.font.underline)),
        colour=colour,
        size_pt=size_pt,
    )


def _background(styled: Any) -> str | None:  # noqa: ANN401
    """Return the highlight or shading of a run or style."""
    name = _property(styled.element, "./w:rPr/w:highlight/@w:val")
    if name and name != "none":
        return _HIGHLIGHTS.get(name, _OTHER_HIGHLIGHT)
    return _property(styled.element, "./w:rPr/w:shd/@w:fill") or _property(
        styled.element, "./w:pPr/w:shd/@w:fill"
    )


def _property(element: Any, path: str) -> str | None:  # noqa: ANN401
    found = element.xpath(path)
    return str(found[0]) if found else None


def _inherited(style: Any, look: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """Return the value set by a style or the nearest of its base styles; None when none sets it."""
    for _ in range(_MAX_DEPTH):
        if style is None:
            return None
        value = look(style)
        if value is not None:
            return value
        style = style.base_style
    return None
