"""View of a workbook: what its sheets show, recalculated by LibreOffice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from images.renderer.program.errors import DocumentError
from images.renderer.program.pages import Reply
from images.renderer.program.sheet_cells import read_cells
from images.renderer.program.sheet_objects import read_charts, read_comments, read_pivot_tables
from images.renderer.program.sheet_perturbation import perturb
from images.renderer.program.sheet_print import SheetPrinter

if TYPE_CHECKING:
    from images.renderer.program.office import Office

MAX_SHEETS = 100
_DOCUMENT = "com.sun.star.sheet.SpreadsheetDocument"


def view_sheets(office: Office, data: bytes, request: dict[str, Any]) -> Reply:
    """Return the view of a workbook.

    Args:
        office: the running LibreOffice.
        data: the file.
        request: suffix, ``shown`` (items to decide) and ``perturbations``.

    Raises:
        DocumentError: it is no workbook, or too large.
    """
    document = office.open(data, request["suffix"])
    if not document.supportsService(_DOCUMENT):
        raise DocumentError("LibreOffice does not open it as a workbook.")
    document.calculateAll()
    if document.Sheets.Count > MAX_SHEETS:
        raise DocumentError(f"It has more than {MAX_SHEETS} sheets.")
    sheets = [
        _view_sheet(office, document, document.Sheets.getByIndex(number), number)
        for number in range(document.Sheets.Count)
    ]
    view = {
        "kind": "sheets",
        "sheets": sheets,
        "active_sheet": document.CurrentController.ActiveSheet.Name,
        "perturbed": [perturb(document, request_) for request_ in request["perturbations"]],
    }
    printer = SheetPrinter(office, document, request["shown"])
    view["shown"] = printer.decide()
    return Reply(view, printer.encoded_pages() if request["pages"] else [])


def _view_sheet(office: Office, document: Any, sheet: Any, number: int) -> dict[str, Any]:  # noqa: ANN401
    controller = document.CurrentController
    active = controller.ActiveSheet
    controller.setActiveSheet(sheet)
    frozen = controller.hasFrozenPanes()
    panes = {
        "frozen_columns": controller.getSplitColumn() if frozen else 0,
        "frozen_rows": controller.getSplitRow() if frozen else 0,
    }
    controller.setActiveSheet(active)
    return {
        "name": sheet.Name,
        "is_shown": bool(sheet.IsVisible),
        **panes,
        **read_cells(office, document, sheet, number),
        "charts": read_charts(sheet),
        "pivot_tables": read_pivot_tables(sheet),
        "comments": read_comments(sheet),
    }
