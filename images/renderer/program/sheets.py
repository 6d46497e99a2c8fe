"""View of a workbook: what its sheets show, recalculated by LibreOffice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from images.renderer.program.errors import DocumentError
from images.renderer.program.pages import Reply
from images.renderer.program.sheet_cells import read_cells
from images.renderer.program.sheet_objects import read_charts, read_comments, read_pivot_tables
from images.renderer.program.sheet_perturbation import find_sheet, perturb_all
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
        _view_sheet(office, document, number, _asked_cells(document, number, request))
        for number in range(document.Sheets.Count)
    ]
    view = {
        "kind": "sheets",
        "sheets": sheets,
        "active_sheet": document.CurrentController.ActiveSheet.Name,
        "null_date": _day(document.NullDate),
        "perturbed": _perturbed(office, data, request),
    }
    printer = SheetPrinter(office, document, request["shown"])
    view["shown"] = printer.decide()
    if request["pages"] and not request["shown"]:
        printer.print_all()
    return Reply(view, printer.encoded_pages() if request["pages"] else [])


def _perturbed(office: Office, data: bytes, request: dict[str, Any]) -> list[Any]:
    """Return the results of perturbations, which are made in a copy, so that the view stays."""
    if not request["perturbations"]:
        return []
    copy = office.open(data, request["suffix"], name="copy")
    copy.calculateAll()
    return perturb_all(copy, request["perturbations"])


def _day(date: Any) -> str:  # noqa: ANN401 - UNO has no types
    return f"{date.Year:04}-{date.Month:02}-{date.Day:02}"


def _asked_cells(document: Any, number: int, request: dict[str, Any]) -> list[str]:  # noqa: ANN401
    """Return the names of the asked cells of a sheet."""
    name = document.Sheets.getByIndex(number).Name
    cells = [item for item in request["shown"] if item["kind"] == "cell"]
    sheets = {item["sheet"]: find_sheet(document, item["sheet"]) for item in cells}
    return [
        item["cell"] for item in cells if (found := sheets[item["sheet"]]) and found.Name == name
    ]


def _view_sheet(office: Office, document: Any, number: int, asked: list[str]) -> dict[str, Any]:  # noqa: ANN401
    sheet = document.Sheets.getByIndex(number)
    controller = document.CurrentController
    active = controller.ActiveSheet
    controller.setActiveSheet(sheet)
    frozen = controller.hasFrozenPanes()
    window = {
        "frozen_columns": controller.getSplitColumn() if frozen else 0,
        "frozen_rows": controller.getSplitRow() if frozen else 0,
        "zoom_percent": controller.ZoomValue,
    }
    controller.setActiveSheet(active)
    return {
        "name": sheet.Name,
        "is_shown": bool(sheet.IsVisible),
        **window,
        **read_cells(office, document, number, asked),
        "charts": read_charts(sheet),
        "pivot_tables": read_pivot_tables(sheet),
        "comments": read_comments(sheet),
    }
