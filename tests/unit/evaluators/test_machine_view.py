"""Views of documents, as evaluators get them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evaluators.decorators import evaluator
from evaluators.graph.outcome import Call, Cause
from evaluators.machine_view import MachineView
from evaluators.rendering.errors import DocumentUnviewableError, RendererError
from evaluators.rendering.request import CellItem, ViewRequest
from evaluators.rendering.views.any import ViewedDocument, parse_view
from evaluators.runners import HostRunner
from evaluators.schema import describe
from evaluators.testing.machine import ScratchMachine
from evaluators.testing.recorded_views import RecordedViews, ViewNotRecordedError
from images.renderer.program.framing import VERSION
from tests.evaluator_cases.file_builders import changed, odf, pdf

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SHEET = odf("spreadsheet", "")
OWN = changed(SHEET, {"meta.xml": b"<meta:generator>LibreOffice/7.3</meta:generator>"})
SEEN = ViewedDocument(
    parse_view(
        json.dumps(
            {
                "version": VERSION,
                "kind": "sheets",
                "sheets": [],
                "active_sheet": "Data",
                "null_date": "1899-12-30",
                "perturbed": [],
                "shown": [],
            }
        ).encode()
    ),
    (b"a page",),
)


class Views:
    """A source that keeps its requests."""

    def __init__(
        self, error: Exception | None = None, answers: Sequence[ViewedDocument] = ()
    ) -> None:
        self.error = error
        self.answers = list(answers)
        self.requests: list[ViewRequest] = []

    def view(self, document: bytes, request: ViewRequest) -> ViewedDocument:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        return self.answers.pop(0) if self.answers else SEEN


def view_on(folder: Path, views: Views, **more: object) -> MachineView:
    machine = ScratchMachine(folder, [])
    return MachineView(machine, timeout_s=9.0, views=views, **more)  # type: ignore[arg-type]


@evaluator(on="documents")
def is_on_data(view: MachineView, path: str) -> bool:
    """Return whether a workbook opens on its sheet ``Data``.

    Args:
        view: the machine.
        path: path of the workbook.
    """
    book = view.workbook(path)
    return book is not None and book.active_sheet == "Data"


def test_a_view_is_asked_for_by_what_the_file_is(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(SHEET)
    (tmp_path / "b.ods").write_bytes(pdf(["Hello"]))
    views, kept = Views(), list[tuple[str, ViewedDocument]]()
    view = view_on(tmp_path, views, on_view=lambda path, viewed: kept.append((path, viewed)))
    item = CellItem(sheet="Data", cell="B7")
    assert view.workbook("/a.xlsx", shown=[item]) == SEEN.view
    assert view.text_document("/a.xlsx") is None
    assert view.workbook("/missing.ods") is None
    assert views.requests[0] == ViewRequest(suffix="ods", shown=(item,))
    assert [path for path, _ in kept] == ["/a.xlsx", "/a.xlsx"]
    assert kept[0][1] is SEEN
    assert view.workbook("/b.ods") == SEEN.view
    assert views.requests[-1].suffix == "pdf"


def test_a_workbook_that_asks_where_it_is_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.ods").write_bytes(SHEET)
    asking = ViewedDocument(SEEN.view.model_copy(update={"is_place_asked": True}), ())
    views = Views(answers=[asking])
    assert view_on(tmp_path, views).workbook("/a.ods") == SEEN.view
    assert [request.place for request in views.requests] == ["", "/a.ods"]
    assert "place" not in views.requests[0].asked()


@pytest.mark.parametrize(
    ("document", "error", "met", "cause"),
    [
        (SHEET, DocumentUnviewableError("It cannot be viewed."), False, None),
        (OWN, DocumentUnviewableError("It cannot be viewed."), None, Cause.EVALUATOR),
        (SHEET, RendererError("The renderer does not start."), None, Cause.EVALUATOR),
        (SHEET, None, True, None),
    ],
)
def test_a_document_that_no_program_opens_is_its_authors_fault(
    tmp_path: Path, document: bytes, error: Exception | None, met: bool | None, cause: Cause | None
) -> None:
    (tmp_path / "a.ods").write_bytes(document)
    runner = HostRunner(
        {"is_on_data": describe(is_on_data)}, lambda _: view_on(tmp_path, Views(error))
    )
    (outcome,) = runner.evaluate([Call("node", "is_on_data", {"path": "/a.ods"})], timeout_s=9.0)
    assert (outcome.met, outcome.cause) == (met, cause)
    if error is not None:
        assert "view" in outcome.reason or "renderer" in outcome.reason


def test_recorded_views_replace_the_renderer(tmp_path: Path) -> None:
    folder, request = tmp_path / "views", ViewRequest(suffix="ods")
    views = Views()
    assert RecordedViews(folder, views, is_recording=True).view(SHEET, request) == SEEN
    assert RecordedViews(folder).view(SHEET, request) == SEEN
    assert len(views.requests) == 1
    with pytest.raises(ViewNotRecordedError):
        RecordedViews(folder).view(OWN, request)
    refusing = RecordedViews(folder, Views(DocumentUnviewableError("No.")), is_recording=True)
    with pytest.raises(DocumentUnviewableError):
        refusing.view(OWN, request)
    with pytest.raises(DocumentUnviewableError, match="could not be viewed"):
        RecordedViews(folder).view(OWN, request)
