"""Workbooks of test cases: by LibreOffice (``files/prices.*``), and the same table by openpyxl."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import (
    CaseTable,
    another_way,
    corrupt,
    empty,
    hostile,
    missing,
    nothing,
    positive,
)
from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases import file_builders
from tests.evaluator_cases.document_cases import at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evaluators.testing.case import Case, State
    from tests.evaluator_cases.document_cases import Make

PATH = "~/Documents/prices"
DATA: dict[str, Any] = {
    "A1": "Item", "B1": "Price", "A2": "Tea", "B2": 2.5, "A3": "Milk", "B3": 4, "C3": True,
    "B4": "=SUM(B2:B3)", "A6": "Prices of last week",
}  # fmt: skip
"""What LibreOffice's file has on its sheet ``Data``; ``More`` has a pivot table."""
_FILES = Path(__file__).parent / "files"


@cache
def by_libreoffice(suffix: str) -> bytes:
    """Return the workbook that LibreOffice saved, in one of its formats."""
    return (_FILES / f"prices.{suffix}").read_bytes()


def ods() -> bytes:
    """Return the workbook as .ods."""
    return by_libreoffice("ods")


def xlsx(
    cells: Mapping[str, Any],
    values: Mapping[str, float | str] | None = None,
    more: Callable[[Any], object] | None = None,
) -> Make:
    """Return a function that creates an .xlsx with a sheet ``Data``.

    Args:
        cells: its cells.
        values: stored results of formulas.
        more: changes the workbook.
    """

    @cache
    def make() -> bytes:
        def build(book: Any) -> None:
            book.active.title = "Data"
            for place, value in cells.items():
                book.active[place] = value
            if more is not None:
                more(book)

        return file_builders.xlsx(build, values)

    return make


def prices(more: Callable[[Any], object] | None = None, **cells: Any) -> Make:
    """Return a function that creates the table of prices with changes; None removes a cell."""
    changed = {name: value for name, value in {**DATA, **cells}.items() if value is not None}
    return xlsx(changed, None, more)


def put(more: Callable[[Any], object] | None = None, **cells: Any) -> State:
    """Return a state with the table of prices, changed as by `prices`."""
    return at(PATH, prices(more, **cells))


def new(cells: Mapping[str, Any], values: Any = None, more: Any = None) -> State:
    """Return a state with a workbook of these cells, as by `xlsx`."""
    return at(PATH, xlsx(cells, values, more))


SAVED = at(PATH, ods)
"""State with the workbook that LibreOffice saved."""


def formatted(**formats: Mapping[str, Any]) -> Callable[[Any], None]:
    """Return a function that sets attributes of cells, such as ``B2={"number_format": "0"}``."""

    def change(book: Any) -> None:
        for place, values in formats.items():
            for name, value in values.items():
                setattr(book.active[place], name, value)

    return change


def added(*names: str) -> Callable[[Any], None]:
    """Return a function that adds sheets with a 7 in A1."""

    def change(book: Any) -> None:
        for name in names:
            book.create_sheet(name)["A1"] = 7

    return change


def table(
    evaluator: Callable[..., bool],
    args: Mapping[str, Any],
    *cases: Case,
    equivalent: Mapping[str, str] | None = None,
    good: Make = ods,
    is_in_xlsx: bool = True,
) -> CaseTable:
    """Return the cases of an evaluator, with those that all evaluators of workbooks share.

    Args:
        evaluator: the evaluator.
        args: arguments that LibreOffice's file meets.
        cases: its own cases.
        equivalent: as in `CaseTable`.
        good: the file that meets it.
        is_in_xlsx: whether LibreOffice's .xlsx meets it, too.
    """
    path = str(args["path"])
    folder, _, name = path.rpartition("/")

    def linked(fixture: MachineFixture) -> None:
        fixture.write(f"/srv/{name}", good())
        fixture.link(path, f"/srv/{name}")

    shared = [
        positive("file of LibreOffice", at(path, good), **args),
        corrupt("half of the file", at(path, lambda: good()[: len(good()) // 2]), **args),
        missing("no file", nothing, **args),
        missing("in a different folder", at(f"{folder}/more/{name}", good), **args),
        empty("empty file", at(path, lambda: b""), **args),
        empty("empty workbook", at(path, xlsx({})), **args),
        hostile("link to the file", linked, **args),
        hostile("file over the size limit", lambda fixture: fixture.huge(path), **args),
    ]
    if is_in_xlsx:
        way = at(path, lambda: by_libreoffice("xlsx"))
        shared.append(another_way("LibreOffice's .xlsx", way, **args))
    return CaseTable(
        evaluator, MachineFixture, (*shared, *cases), equivalent=dict(equivalent or {})
    )
