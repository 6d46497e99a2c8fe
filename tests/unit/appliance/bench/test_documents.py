"""Tests of the benchmark of views, on a stand-in of the renderer."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import docx
import openpyxl
import pptx
import pypdf
import pytest

from appliance.bench.documents import (
    COLUMNS,
    PAGES,
    ROWS,
    SLIDES,
    bench_documents,
    make_pdf,
    make_slides,
    make_text,
    make_workbook,
)
from evaluators.rendering.cache import ViewCache
from evaluators.rendering.client import DocumentViews
from evaluators.rendering.pool import RendererPool
from evaluators.rendering.process import RendererProcess
from images.renderer.program.framing import VERSION, encode
from tests.standins.renderer import StandInRenderer

if TYPE_CHECKING:
    from pathlib import Path

VIEW = b'{"version": %d, "kind": "pdf", "pages": [], "fields": [], "outline": [], "title": "", "shown": []}'


def test_each_document_is_new_and_the_last_ones_are_cached(tmp_path: Path) -> None:
    seen: list[bytes] = []

    def answer(_header: dict[str, Any], parts: list[bytes]) -> bytes:
        seen.extend(parts)
        return encode({"error": "", "memory_peak_mib": 300.5 - len(seen)}, [VIEW % VERSION])

    pool = RendererPool(lambda: RendererProcess(StandInRenderer(answer)))
    views = DocumentViews("d", pool, ViewCache(tmp_path))
    rows = list(bench_documents(views, 2))
    views.close()
    assert [(row.name, len(row.samples_s), row.failures) for row in rows] == [
        ("text", 2, 0),
        ("slides", 2, 0),
        ("workbook", 2, 0),
        ("pdf", 2, 0),
        ("cached", 2, 0),
    ]
    assert len(set(seen)) == len(seen) == 8
    peaks = [row.extra.get("memory_peak_mib") for row in rows]
    assert peaks == [299.5, 297.5, 295.5, 293.5, None]


def test_documents_have_the_stated_size() -> None:
    sheet = openpyxl.load_workbook(io.BytesIO(make_workbook("t")))["Sheet"]
    assert (sheet.max_row, sheet.max_column) == (ROWS, COLUMNS)
    assert len(pptx.Presentation(io.BytesIO(make_slides("t"))).slides) == SLIDES
    assert len(pypdf.PdfReader(io.BytesIO(make_pdf("t"))).pages) == PAGES
    text = docx.Document(io.BytesIO(make_text("t")))
    assert len(text.paragraphs) > PAGES


@pytest.mark.parametrize("make", [make_text, make_slides, make_workbook, make_pdf])
def test_documents_of_other_titles_differ(make: Any) -> None:  # noqa: ANN401
    assert make("a") != make("b")
