"""What is seen of the cells of a workbook on a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.rendering.request import MAX_ITEMS, CellItem
from evaluators.sheets.values import SeenCell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluators.machine_view import MachineView


def see_cells(
    view: MachineView, path: str, sheet: str, names: Sequence[str]
) -> dict[str, SeenCell]:
    """Return what is seen of the filled ones of some cells, by name.

    Args:
        view: the machine.
        path: path of the workbook.
        sheet: name of the sheet; empty for the first shown one.
        names: the cells.

    Returns:
        Empty if the file is missing, is not a workbook, or does not show the sheet.

    Raises:
        DocumentUnviewableError: the program does not open it.
    """
    found: dict[str, SeenCell] = {}
    for start in range(0, len(names), MAX_ITEMS):
        batch = names[start : start + MAX_ITEMS]
        items = tuple(CellItem(sheet=sheet, cell=name) for name in batch)
        book = view.workbook(path, shown=items)
        tab = book.sheet(sheet) if book is not None else None
        if book is None or tab is None or not tab.is_shown:
            return {}
        for name, shown in zip(batch, book.shown, strict=True):
            if (cell := tab.cell(name)) is not None:
                found[name] = SeenCell(cell, tab.formats[cell.format], shown, book.null_date)
    return found


def see_cell(view: MachineView, path: str, sheet: str, name: str) -> SeenCell | None:
    """Return what is seen of a cell; None if it is empty; as `see_cells`."""
    return see_cells(view, path, sheet, [name]).get(name)
