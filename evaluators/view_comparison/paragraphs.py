"""Compare paragraphs of texts and slides."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from evaluators.view_comparison.difference import (
    Difference,
    back_color,
    compare,
    compare_characters,
    compare_colors,
    compare_fields,
    compare_numbers,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluators.rendering.views.text import ParagraphBase, Run
    from evaluators.view_comparison.difference import Tolerances

_LENGTHS = ("before_mm", "after_mm", "left_mm", "right_mm", "first_line_mm")
_SPACING_STEP = 0.01


def written(paragraphs: Sequence[ParagraphBase]) -> list[str]:
    """Return the texts of the paragraphs that have any, without white space at their ends."""
    return [text for paragraph in paragraphs if (text := paragraph.text.strip())]


def compare_formatting(
    where: str, wanted: ParagraphBase, found: ParagraphBase, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare the formatting of two paragraphs: as a whole, and of their characters.

    Texts that differ are divided into the same number of formats; equal texts at the same places.
    """
    yield from compare_fields(where, wanted, found, ("alignment",))
    yield from compare_fields(where, wanted, found, _LENGTHS, tolerances.position_mm)
    heights = wanted.line_height_mm, found.line_height_mm
    yield from compare_numbers(f"{where}, line_height_mm", *heights, tolerances.position_mm)
    spacing = wanted.line_spacing, found.line_spacing
    yield from compare_numbers(f"{where}, line_spacing", *spacing, _SPACING_STEP)
    if "\t" in wanted.text + found.text:
        yield from _compare_tabs(where, wanted, found, tolerances)
    yield from _compare_runs(where, wanted, found, tolerances)


def _compare_tabs(
    where: str, wanted: ParagraphBase, found: ParagraphBase, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare tab stops, which count only in paragraphs with tabs."""
    alignments = ([tab.alignment for tab in paragraph.tabs] for paragraph in (wanted, found))
    yield from compare(f"{where}, tabs", *alignments)
    for one, other in zip(wanted.tabs, found.tabs, strict=False):
        yield from compare_fields(
            f"{where}, tab", one, other, ("position_mm",), tolerances.position_mm
        )


def _compare_runs(
    where: str, wanted: ParagraphBase, found: ParagraphBase, tolerances: Tolerances
) -> Iterator[Difference]:
    if wanted.text.strip() != found.text.strip():
        one, other = (_distinct(paragraph.runs) for paragraph in (wanted, found))
        if len(one) != len(other):
            yield Difference(f"{where}, formats", str(len(one)), str(len(other)))
        places = zip(one, other, strict=False)
    else:
        places = zip(
            *(_by_character(paragraph.runs) for paragraph in (wanted, found)), strict=False
        )
    for run, other_run in dict.fromkeys(places):
        yield from _compare_run(f"{where}, {shortened(run.text)}", run, other_run, tolerances)


def _by_character(runs: Sequence[Run]) -> list[Run]:
    """Return the run of each character that is not white space."""
    return [run for run in runs for character in run.text if not character.isspace()]


def _distinct(runs: Sequence[Run]) -> list[Run]:
    """Return the first run of each sequence with the same format."""
    filled = [run for run in runs if run.text.strip()]
    return [
        next(group) for _, group in groupby(filled, lambda run: run.model_copy(update={"text": ""}))
    ]


def _compare_run(
    where: str, wanted: Run, found: Run, tolerances: Tolerances
) -> Iterator[Difference]:
    yield from compare_characters(where, wanted, found, tolerances)
    yield from compare_fields(where, wanted, found, ("position", "link", "transparency_percent"))
    yield from compare_fields(where, wanted, found, ("spacing_pt",), tolerances.size_pt)
    colors = back_color(wanted.highlight), back_color(found.highlight)
    yield from compare_colors(f"{where}, highlight", *colors, tolerances.color)
