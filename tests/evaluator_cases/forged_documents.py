"""Documents that outsiders forged, by the evaluator that they deceived once: what is stored differs from what is shown."""

from __future__ import annotations

import base64
import gzip
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import forged

if TYPE_CHECKING:
    from evaluators.testing.case import Case
    from evaluators.testing.machine import MachineFixture

_FOLDER = Path(__file__).parent / "files" / "forged"
_CHART: dict[str, Any] = {"kind": "column", "series": ["B2:B6"], "title": "Sales"}
_PIVOT: dict[str, Any] = {
    "source": "A1:B5", "rows": ["City"], "values": {"Price": "sum"}, "sheet": "P",
}  # fmt: skip
_FILES: dict[str, tuple[tuple[str, str, dict[str, Any]], ...]] = {
    "cell_equals": (
        ("date without its time", "dt.xlsx", {"cell": "B1", "value": "2026-11-21 14:30"}),
        ("exponent without digits", "nf.xlsx", {"cell": "A1", "value": 149}),
        ("year of another century", "nf2.xlsx", {"cell": "A3", "value": "1926-11-21"}),
    ),
    "cells_sorted": (("other digits by format", "so.ods", {"cells": "A1:A3"}),),
    "cells_look": (
        ("padding", "pad.ods", {"cells": "B1:B1", "look": {"horizontal": "right"}}),
    ),
    "cell_filled": (("under a gradient", "grad.ods", {"cell": "B1", "colour": "ffff00"}),),
    "sheet_has_chart": (("shares of one series", "pct.xlsx", _CHART),),
    "sheet_has_pivot_table": (("no results", "piv.ods", _PIVOT),),
    "document_has_paragraph": (
        ("in capitals", "up.odt", {"text": "qwErty aBcD"}),
        ("after words of a label", "la.odt", {"text": "pay Ann"}),
    ),
    "document_text_styled": (
        ("a bold font of its own", "bo.odt", {"text": "now", "look": "bold"}),
        ("level with its neighbours", "su.odt", {"text": "now", "look": "superscript"}),
    ),
    "document_text_highlighted": (
        ("before a shape", "hl.odt", {"text": "now", "colour": "none"}),
    ),
    "document_paragraph_aligned": (
        ("wide indent, centred", "al.odt", {"text": "Dear Ann", "alignment": "center"}),
        ("wide indent, right", "ar.odt", {"text": "Dear Ann", "alignment": "right"}),
    ),
    "document_paragraph_spacing": (
        ("not between equals", "sp.odt", {"text": "Aim", "side": "after", "space_pt": 12}),
    ),
    "document_paragraph_indented": (
        ("beside a frame", "in.odt", {"text": "Aim", "side": "left", "indent_mm": 10}),
    ),
    "document_page_break_before": (("below a frame", "pb.odt", {"text": "Annex"}),),
    "document_pages_numbered": (
        ("wide indent", "pn.odt", {"margin": "footer", "alignment": "right"}),
    ),
    "slide_shape_at": (
        ("transparent corner", "trans.pptx", {"shape": "Logo", "left_mm": 10, "top_mm": 10}),
    ),
    "slide_shape_sized": (
        ("transparent but a corner", "trans.pptx", {"shape": "Logo", "width_mm": 200}),
    ),
    "slide_has_line": (("in capitals", "cap.pptx", {"text": "qwErty aBcD"}),),
    "slide_has_picture": (("black on black", "alb.pptx", {"picture": "logo.png"}),),
    "pdf_page_has_text": (("inline image with text", "inl.pdf", {"text": "Invoice 7"}),),
    "pdf_field_equals": (
        ("behind spaces", "lead.pdf", {"field": "amount", "value": "4150"}),
        ("longer than its box", "comb.pdf", {"field": "amount", "value": "4150"}),
    ),
    "pdf_box_checked": (
        ("crossed appearance", "off1.pdf", {"field": "news", "checked": False}),
        ("crossed by the page", "off2.pdf", {"field": "news", "checked": False}),
    ),
    "document_same_as": (
        ("frame", "fr.odt", {"reference": "ref.odt", "aspects": ["text"]}),
        ("pale digits", "look.odt", {"reference": "lref.odt", "aspects": ["look"]}),
        ("shape on a sheet", "shp.ods", {"reference": "ref.ods", "aspects": ["text"]}),
    ),
}  # fmt: skip


def forgeries(evaluator: str) -> tuple[Case, ...]:
    """Return the cases of forged files of an evaluator."""
    return tuple(
        forged(f"file of an outsider: {name}", partial(_write, file, args), **_args(evaluator, file, args))
        for name, file, args in _FILES[evaluator]
    )  # fmt: skip


def _write(file: str, args: dict[str, Any], fixture: MachineFixture) -> None:
    fixture.write(f"~/{file}", _content(file))
    if reference := args.get("reference"):
        fixture.reference(reference, _content(reference))


def _content(file: str) -> bytes:
    """Return a file; PDFs are packed, because they are text in no encoding."""
    packed = _FOLDER / f"{file}.gz"
    return (
        gzip.decompress(packed.read_bytes()) if packed.exists() else (_FOLDER / file).read_bytes()
    )


def _args(evaluator: str, file: str, args: dict[str, Any]) -> dict[str, Any]:
    slide = {"slide": 1} if evaluator.startswith("slide_") else {}
    own = {"path": f"~/{file}", **slide, **args}
    if picture := args.get("picture"):
        data = base64.b64encode((_FOLDER / picture).read_bytes()).decode()
        own["picture"] = f"data:image/png;base64,{data}"
    return own
