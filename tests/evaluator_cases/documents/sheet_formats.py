"""Cases of the evaluators of the look of cells."""

from __future__ import annotations

from typing import Any

from evaluators.documents import sheet_formats
from evaluators.testing.case import another_way, forged, near_miss, negative, positive
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import changed, unzipped
from tests.evaluator_cases.forged_documents import forgeries
from tests.evaluator_cases.sheet_books import PATH, SAVED, formatted, new, ods, put, table

_BOLD: dict[str, Any] = {"path": PATH, "cells": ["A1", "B1"]}
_FILL: dict[str, Any] = {"path": PATH, "cell": "A1", "colour": "FFFF00"}
_TEXT: dict[str, Any] = {"path": PATH, "cell": "B4", "text": "6.50"}
_LOOK: dict[str, Any] = {
    "path": PATH,
    "cells": "A1:B1",
    "look": {"is_bold": True, "is_italic": False, "horizontal": "standard"},
}
_SORT: dict[str, Any] = {"path": PATH, "cells": "B2:B4"}


def _styled(bold: str = "", fill: str = "", color: str = "FF000000") -> Any:
    """Return a function that makes cells bold or gives them a background; names between spaces."""

    def change(book: Any) -> None:
        from openpyxl.styles import Font, PatternFill

        for place in dict.fromkeys((*bold.split(), *fill.split())):
            book.active[place].font = Font(bold=place in bold.split(), color=color)
        for place in fill.split():
            book.active[place].fill = PatternFill("solid", fgColor="FFFFFF00")

    return change


def _rich(*is_bold: bool) -> Any:
    """Return a text whose words are bold or not."""
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    return CellRichText(*(TextBlock(InlineFont(b=value), "word ") for value in is_bold))


def _conditional(book: Any) -> None:
    from openpyxl.formatting import rule
    from openpyxl.styles import PatternFill

    _styled(fill="A1")(book)
    red = PatternFill("solid", bgColor="FFFF0000", fgColor="FFFF0000")
    always: Any = rule.FormulaRule  # its stubs have no types
    always = always(formula=["TRUE"], fill=red)
    book.active.conditional_formatting.add("A1", always)


def _recolored(book: Any) -> None:
    from openpyxl.formatting import rule
    from openpyxl.styles import Font

    _styled(bold="A1 B1")(book)
    always: Any = rule.FormulaRule  # its stubs have no types
    grey = always(formula=["TRUE"], font=Font(color="FF808080"))
    book.active.conditional_formatting.add("A1", grey)


def _undone() -> bytes:
    """Return LibreOffice's workbook with a condition that makes its bold cells plain."""
    weight = '<style:text-properties fo:font-weight="{}"/>'
    parts = unzipped(ods())
    content, styles = (parts[name].decode() for name in ("content.xml", "styles.xml"))
    condition = (
        '<style:map style:condition="is-true-formula(TRUE())" style:apply-style-name="Plain"'
        ' style:base-cell-address="Data.A1"/>'
    )
    content = content.replace(weight.format("bold"), weight.format("bold") + condition)
    plain = (
        '<style:style style:name="Plain" style:family="table-cell"'
        f' style:parent-style-name="Default">{weight.format("normal")}</style:style>'
    )
    styles = styles.replace("</office:styles>", f"{plain}</office:styles>")
    return changed(ods(), {"content.xml": content.encode(), "styles.xml": styles.encode()})


def _aligned(book: Any) -> None:
    from openpyxl.styles import Alignment

    _styled(bold="A1 B1")(book)
    book.active["B1"].alignment = Alignment(horizontal="center")


_CODE = {"number_format": "0.00"}
TABLES = (
    table(
        sheet_formats.cells_bold,
        _BOLD,
        another_way("bold words", put(A1=_rich(True, True), B1=_rich(True)), **_BOLD),
        another_way("more bold cells", put(_styled(bold="A1 B1 B3")), **_BOLD),
        negative("no bold cells", put(), **_BOLD),
        near_miss("one of two cells", put(_styled(bold="A1")), **_BOLD),
        near_miss("empty cell", put(_styled(bold="A1 B1"), B1=None), **_BOLD),
        near_miss("empty expected cells", SAVED, **{**_BOLD, "cells": []}),
        forged("one of two words", put(A1=_rich(True, False), B1=_rich(True)), **_BOLD),
        forged(
            "everything bold",
            new({"A1": 1, "B1": 2, "C1": 3}, None, _styled(bold="A1 B1 C1")),
            **_BOLD,
        ),
        forged("white", put(_styled(bold="A1 B1", color="FFFFFFFF")), **_BOLD),
        another_way("coloured by a condition", put(_recolored), **_BOLD),
        forged("plain by a condition", at(PATH, _undone), **_BOLD),
        equivalent={
            "*args.cells: drop": "fewer cells are expected",
            "*args.cells: repeat": "a repeated cell has no effect",
            "*args.cells: swap case": "the change is not possible",
        },
    ),
    table(
        sheet_formats.cell_filled,
        _FILL,
        *forgeries("cell_filled"),
        another_way("openpyxl", put(_styled(fill="A1")), **_FILL),
        negative("no fill", put(), **_FILL),
        near_miss("different colour", SAVED, **{**_FILL, "colour": "FFFF01"}),
        near_miss("different cell", put(_styled(fill="B1")), **_FILL),
        near_miss("empty cell", put(_styled(fill="A1"), A1=None), **_FILL),
        forged(
            "text in the colour of the fill", put(_styled(fill="A1", color="FFFFFF00")), **_FILL
        ),
        forged("covered by a conditional format", put(_conditional), **_FILL),
        equivalent={"*args.colour: swap case": "letter case is ignored"},
    ),
    table(
        sheet_formats.cell_displays,
        _TEXT,
        positive("text", SAVED, path=PATH, cell="A6", text="Prices of last week"),
        another_way("other white space", SAVED, **{**_TEXT, "text": " 6.50 "}),
        another_way("typed number", put(formatted(B4=_CODE), B4=6.5), **_TEXT),
        negative("general format", put(), **_TEXT),
        near_miss("one more decimal", SAVED, **{**_TEXT, "text": "6.500"}),
        near_miss("empty expected text", new({}), **{**_TEXT, "text": ""}),
        forged(
            "white",
            put(_styled(fill="A9", bold="B4", color="FFFFFFFF")),
            **{**_TEXT, "text": "6.5"},
        ),
        forged(
            "column too narrow",
            put(lambda book: setattr(book.active.column_dimensions["B"], "width", 1), B4=6.53125),
            **{**_TEXT, "text": "6.53125"},
        ),
        equivalent={"*args.text: *space*": "white space is ignored"},
    ),
    table(
        sheet_formats.cells_look,
        _LOOK,
        *forgeries("cells_look"),
        another_way("openpyxl", put(_styled(bold="A1 B1")), **_LOOK),
        another_way("with empty cells", SAVED, **{**_LOOK, "cells": "A1:C1"}),
        negative("no format", put(), **_LOOK),
        near_miss("one cell centred", put(_aligned), **_LOOK),
        near_miss("no cell with content", SAVED, **{**_LOOK, "cells": "D1:E1"}),
        near_miss("nothing asked", SAVED, **{**_LOOK, "look": {}}),
        forged("one of two words", put(A1=_rich(True, False), B1=_rich(True)), **_LOOK),
        forged("white", put(_styled(bold="A1 B1", color="FFFFFFFF")), **_LOOK),
        another_way("black", put(_styled(bold="A1 B1")), **{**_LOOK, "look": {"color": "#000000"}}),
        forged("grey by a condition", put(_recolored), **{**_LOOK, "look": {"color": "#000000"}}),
    ),
    table(
        sheet_formats.cells_sorted,
        _SORT,
        *forgeries("cells_sorted"),
        another_way("descending", put(B2=9), **{**_SORT, "cells": "B2:B3", "order": "descending"}),
        another_way("numbers before texts", new({"B2": 2, "B3": "a", "B4": "B"}), **_SORT),
        negative("unsorted", put(B2=9), **_SORT),
        near_miss("other order", SAVED, **{**_SORT, "order": "descending"}),
        near_miss("gap", put(B3=None), **_SORT),
        near_miss("two columns", new({"A1": 1, "B1": 2}), **{**_SORT, "cells": "A1:B1"}),
        forged("stored results", new({"B2": 1, "B3": "=E1", "B4": 3}, {"B3": 2}), **_SORT),
        forged(
            "what disturbs is hidden",
            put(lambda book: setattr(book.active.row_dimensions[3], "hidden", True)),
            **_SORT,
        ),
        equivalent={"*args.cells*": "a part of a sorted column is sorted"},
    ),
)
