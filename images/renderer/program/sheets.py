"""View of a workbook: what its sheets show, as LibreOffice opens and recalculates it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from images.renderer.program.errors import DocumentError
from images.renderer.program.pages import Reply
from images.renderer.program.readings import embeds_fonts
from images.renderer.program.screen import print_as_shown, texts_of
from images.renderer.program.sheet_cells import read_cells
from images.renderer.program.sheet_objects import read_charts, read_comments, read_pivot_tables
from images.renderer.program.sheet_perturbation import find_sheet, perturb_all
from images.renderer.program.sheet_print import SheetPrinter
from images.renderer.program.sheet_results import find_restyling, find_stale
from images.renderer.program.sheet_window import is_place_asked, read_window

if TYPE_CHECKING:
    from images.renderer.program.office import Office
    from images.renderer.program.sheet_results import Spot

MAX_SHEETS = 100
_DOCUMENT = "com.sun.star.sheet.SpreadsheetDocument"


def view_sheets(office: Office, data: bytes, request: dict[str, Any]) -> Reply:
    """Return the view of a workbook.

    Args:
        office: the running LibreOffice.
        data: the file.
        request: suffix, ``shown`` (items to decide), ``perturbations`` and ``place``.

    Raises:
        DocumentError: it is no workbook, or too large.
    """
    document = _open(office, data, request)
    if document.Sheets.Count > MAX_SHEETS:
        raise DocumentError(f"It has more than {MAX_SHEETS} sheets.")
    stale = find_stale(document)
    if stale:  # they were recalculated meanwhile
        document.close(True)
        document = _open(office, data, request)
    stale |= find_restyling(document)
    view = {
        "kind": "sheets",
        "sheets": [
            _view_sheet(office, document, number, _asked_cells(document, number, request), stale)
            for number in range(document.Sheets.Count)
        ],
        "active_sheet": document.CurrentController.ActiveSheet.Name,
        "brings_fonts": office.has_brought_fonts(),
        "null_date": _day(document.NullDate),
        "is_place_asked": not request.get("place") and is_place_asked(document),
    }
    is_foreign = view["brings_fonts"] or embeds_fonts(data)
    printer = SheetPrinter(office, document, request["shown"], is_foreign=is_foreign)
    view["shown"] = printer.decide()
    if request["pages"] and not request["shown"]:
        printer.print_all()
    pages = printer.encoded_pages() if request["pages"] else []
    document.close(True)  # so that its copy may have the same place
    return Reply({**view, "perturbed": _perturbed(office, data, request)}, pages)


def _open(office: Office, data: bytes, request: dict[str, Any]) -> Any:  # noqa: ANN401
    """Open a workbook as the desktop does: what has a stored result is not recalculated."""
    document = office.open(data, request["suffix"], request.get("place", ""))
    if not document.supportsService(_DOCUMENT):
        raise DocumentError("LibreOffice does not open it as a workbook.")
    document.calculate()
    sheets = [document.Sheets.getByIndex(number) for number in range(document.Sheets.Count)]
    print_as_shown(sheet.DrawPage for sheet in sheets)
    controller = document.CurrentController
    if (
        not controller.HasSheetTabs
    ):  # no other sheet than the first one that is shown can be reached
        for sheet in sheets:
            sheet.IsVisible = sheet.Name == controller.ActiveSheet.Name
    return document


def _perturbed(office: Office, data: bytes, request: dict[str, Any]) -> list[Any]:
    """Return the results of perturbations, which are made in a copy, so that the view stays."""
    if not request["perturbations"]:
        return []
    copy = _open(office, data, request)
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


def _view_sheet(
    office: Office,
    document: Any,  # noqa: ANN401 - UNO has no types
    number: int,
    asked: list[str],
    stale: set[Spot],
) -> dict[str, Any]:
    sheet = document.Sheets.getByIndex(number)
    spots = {(row, column) for owner, row, column in stale if owner == number}
    return {
        "name": sheet.Name,
        "is_shown": bool(sheet.IsVisible),
        **read_window(document, sheet),
        **read_cells(office, document, number, asked, spots),
        "charts": read_charts(sheet),
        "pivot_tables": read_pivot_tables(sheet),
        "comments": read_comments(sheet),
        "texts": texts_of([sheet.DrawPage]),
    }
