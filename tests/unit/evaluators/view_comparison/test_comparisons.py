"""Tests of the comparison of views, on views made here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evaluators.rendering.views.sheets import SheetsView
from evaluators.rendering.views.slides import SlidesView
from evaluators.rendering.views.text import TextView
from evaluators.view_comparison import sheets, slides, texts
from evaluators.view_comparison.difference import Tolerances
from evaluators.view_comparison.seen import items_of

if TYPE_CHECKING:
    from types import ModuleType

    from evaluators.rendering.views.any import View
    from evaluators.view_comparison.difference import Aspect

CHARACTERS = {
    "font": "Serif",
    "size_pt": 11.0,
    "weight": 100.0,
    "is_bold": False,
    "is_italic": False,
    "underline": "",
    "is_struck": False,
    "color": None,
}


def run(text: str, **changes: object) -> dict[str, Any]:
    own = {"text": text, "highlight": None, "spacing_pt": 0.0, "position": "", "link": ""}
    own |= {"transparency_percent": 0, "field": ""}
    return {**CHARACTERS, **own, **changes}


def paragraph(*runs: dict[str, Any], **changes: object) -> dict[str, Any]:
    lengths = dict.fromkeys(("before_mm", "after_mm", "left_mm", "right_mm", "first_line_mm"), 0.0)
    return {
        "text": "".join(part["text"] for part in runs),
        "alignment": "left",
        **lengths,
        "line_spacing": 1.0,
        "line_height_mm": None,
        "tabs": [],
        "runs": runs,
        **changes,
    }


def text_view(*paragraphs: dict[str, Any]) -> TextView:
    own = {
        "part": "body",
        "place": "",
        "level": 0,
        "style": "S",
        "background": None,
        "list_label": "",
        "is_page_break_before": False,
        "is_page_break_after": False,
    }
    return TextView.model_validate(
        {
            "version": 1,
            "kind": "text",
            "paragraphs": [{**own, **part} for part in paragraphs],
            "tables": [],
            "page_styles": [],
            "pictures": [],
            "page_count": 1,
            "shown": [],
        }
    )


def rows(
    module: ModuleType, aspect: Aspect, wanted: View, found: View, **tolerances: object
) -> list[str]:
    """Return the places of the differences."""
    found_rows = module.ASPECTS[aspect](wanted, found, Tolerances.model_validate(tolerances))
    return [row.where for row in found_rows]


def test_runs_that_are_divided_differently_are_equal() -> None:
    whole = text_view(paragraph(run("Total: 12"), run("3", is_bold=True)))
    parts = text_view(paragraph(run("Tot"), run("al: 12"), run("3", is_bold=True), run("")))
    assert rows(texts, "formatting", whole, parts) == []
    other = text_view(paragraph(run("Total: 1"), run("23", is_bold=True)))
    assert rows(texts, "formatting", whole, other) == ["paragraph 1, 'Total: 12', is_bold"]


def test_formatting_of_other_texts_is_compared_by_formats() -> None:
    one = text_view(paragraph(run("Anna "), run("pays", is_bold=True)))
    assert (
        rows(texts, "formatting", one, text_view(paragraph(run("Bo "), run("owes", is_bold=True))))
        == []
    )
    assert rows(texts, "formatting", one, text_view(paragraph(run("Bo owes")))) == [
        "paragraph 1, formats"
    ]


@pytest.mark.parametrize(
    ("change", "tolerance"),
    [
        ({"size_pt": 11.4}, {"size_pt": 0.5}),
        ({"color": "#050000"}, {"color": 5}),
        ({"spacing_pt": 0.4}, {"size_pt": 0.5}),
        ({"highlight": "#fff0ff"}, {"color": 15}),
    ],
)
def test_tolerances_of_characters(change: dict[str, Any], tolerance: dict[str, Any]) -> None:
    one, other = text_view(paragraph(run("a"))), text_view(paragraph(run("a", **change)))
    assert len(rows(texts, "formatting", one, other)) == 1
    assert rows(texts, "formatting", one, other, **tolerance) == []


def test_empty_paragraphs_and_automatic_colours_are_no_differences() -> None:
    one = text_view(paragraph(run("a")))
    other = text_view(paragraph(), paragraph(run("a", color="#000000", highlight="#ffffff")))
    for aspect in texts.ASPECTS:
        assert rows(texts, aspect, one, other) == []


def test_page_breaks_and_lists_are_structure() -> None:
    one = text_view(paragraph(run("a")), paragraph(run("b"), is_page_break_before=True))
    same = text_view(paragraph(run("a"), is_page_break_after=True), paragraph(run("b")))
    assert rows(texts, "structure", one, same) == []
    assert rows(texts, "structure", one, text_view(paragraph(run("a")), paragraph(run("b")))) == [
        "page breaks"
    ]
    listed = text_view(paragraph(run("a"), list_label="1."))
    assert rows(texts, "structure", text_view(paragraph(run("a"))), listed) == [
        "paragraph 1, list_label"
    ]


CELL_FORMAT = {
    **CHARACTERS,
    "number_format": "General",
    "is_logical": False,
    "background": None,
    "horizontal": "standard",
    "vertical": "standard",
    "is_wrapped": False,
    "is_protected": True,
    "is_hidden_by_protection": False,
    "borders": dict.fromkeys(("top", "bottom", "left", "right"), False),
    "style": "Default",
}


def sheet_view(*cells: dict[str, Any], **changes: object) -> SheetsView:
    empty = ("merged", "hidden_rows", "hidden_columns", "validations", "charts", "pivot_tables")
    sheet = {
        "name": "Budget",
        "is_shown": True,
        "rows": 9,
        "columns": 9,
        "cells": [
            {
                "row": row,
                "column": 0,
                "formula": "",
                "is_array": False,
                "runs": [],
                "type": "number",
                "format": 0,
                **cell,
            }
            for row, cell in enumerate(cells)
        ],
        "formats": [CELL_FORMAT, {**CELL_FORMAT, "is_bold": True}],
        **dict.fromkeys((*empty, "comments"), ()),
        "frozen_rows": 0,
        "frozen_columns": 0,
        "zoom_percent": 100,
        "column_widths_mm": [22.0],
        **changes,
    }
    return SheetsView.model_validate(
        {
            "version": 1,
            "kind": "sheets",
            "sheets": [sheet],
            "active_sheet": "Budget",
            "null_date": "1899-12-30",
            "perturbed": [],
            "shown": [],
        }
    )


def test_each_aspect_of_a_cell_is_its_own() -> None:
    one = sheet_view({"text": "3", "value": 3.0, "formula": "=1+2"})
    typed = sheet_view({"text": "3", "value": 3.0})
    shown = sheet_view({"text": "3.0", "value": 3.0, "formula": "=1+2"})
    bold = sheet_view({"text": "3", "value": 3.0, "formula": "=1+2", "format": 1})
    differing = {
        name: [aspect for aspect in sheets.ASPECTS if rows(sheets, aspect, one, view)]
        for name, view in (("typed", typed), ("shown", shown), ("bold", bold), ("same", one))
    }
    assert differing == {
        "typed": ["formulas"],
        "shown": ["text"],
        "bold": ["formatting"],
        "same": [],
    }


def test_numbers_have_a_tolerance_and_texts_have_none() -> None:
    one, other = (sheet_view({"text": "3", "value": value}) for value in (3.0, 3.004))
    assert rows(sheets, "values", one, other) == ["sheet 1 A1"]
    assert rows(sheets, "values", one, other, number=0.01) == []
    text = sheet_view({"text": "3", "value": "3", "type": "text"})
    assert rows(sheets, "values", one, text, number=9)


def test_a_hidden_row_is_not_displayed() -> None:
    cells = ({"text": "3", "value": 3.0}, {"text": "4", "value": 4.0})
    hidden = sheet_view(*cells, hidden_rows=(1,))
    assert rows(sheets, "text", sheet_view(*cells), hidden) == ["sheet 1 A2"]
    assert rows(sheets, "values", sheet_view(*cells), hidden) == []
    assert rows(sheets, "structure", sheet_view(*cells), hidden) == ["sheet 1, hidden_rows"]
    assert [item.cell for item in items_of(hidden)] == ["A1"]  # type: ignore[union-attr]


def shape(text: str, left: float = 10.0, **changes: object) -> dict[str, Any]:
    return {
        "left_mm": left,
        "top_mm": 10.0,
        "width_mm": 50.0,
        "height_mm": 20.0,
        "number": 0,
        "name": "",
        "type": "TextShape",
        "rotation_deg": 0.0,
        "fill": None,
        "is_visible": True,
        "is_printable": True,
        "is_empty_placeholder": False,
        "description": "",
        "paragraphs": [paragraph(run(text), level=0, list="")],
        "shapes": [],
        **changes,
    }


def slide_view(*shapes: dict[str, Any], **changes: object) -> SlidesView:
    slide = {
        "name": "1",
        "is_shown": True,
        "layout": 0,
        "master": "M",
        "background": None,
        "has_own_background": False,
        "notes": "",
        "transition": 0,
        "transition_subtype": 0,
        "transition_s": 0.0,
        "advances_after_s": None,
        "shapes": shapes,
        **changes,
    }
    return SlidesView.model_validate(
        {
            "version": 1,
            "kind": "slides",
            "width_mm": 254.0,
            "height_mm": 190.0,
            "slides": [slide],
            "shown": [],
        }
    )


def test_shapes_are_matched_in_any_order_and_in_groups() -> None:
    one = slide_view(shape("a"), shape("b", 90), shape("", is_empty_placeholder=True))
    group = shape("", shapes=[shape("b", 90.2), shape("a")])
    for aspect in slides.ASPECTS:
        assert rows(slides, aspect, one, slide_view(group)) == []
    moved = slide_view(shape("b", 92), shape("a"))
    assert rows(slides, "structure", one, moved) == ["slide 1, shape 2, left_mm"]
    assert rows(slides, "structure", one, moved, position_mm=3) == []


def test_notes_backgrounds_and_missing_shapes() -> None:
    one = slide_view(shape("a"))
    assert rows(slides, "text", one, slide_view(shape("a"), notes="n")) == ["slide 1, notes"]
    red = slide_view(shape("a"), background={"fill": "solid", "color": "#ff0000"})
    assert rows(slides, "formatting", one, red) == ["slide 1, background"]
    assert rows(slides, "formatting", one, slide_view()) == ["slide 1, shape 1"]


def test_tab_stops_count_only_in_paragraphs_with_tabs() -> None:
    stops = [{"position_mm": 40.0, "alignment": "left"}]
    for text, differences in (("a b", []), ("a\tb", ["paragraph 1, tabs"])):
        one = text_view(paragraph(run(text)))
        other = text_view(paragraph(run(text), tabs=stops))
        assert rows(texts, "formatting", one, other) == differences
