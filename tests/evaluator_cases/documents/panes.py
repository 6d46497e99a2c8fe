"""Cases of frozen rows and columns of spreadsheets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.documents.spreadsheets import panes_frozen
from evaluators.testing.case import CaseTable, another_way, forged, near_miss, negative, positive
from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases.document_cases import at, document_cases
from tests.evaluator_cases.documents.spreadsheets import BARE, DATA, ods, sheet, xlsx
from tests.evaluator_cases.sheet_format_ways import pane_cases

if TYPE_CHECKING:
    from tests.evaluator_cases.document_cases import Make

PATH = "~/prices"
_ARGS: dict[str, Any] = {"path": PATH, "rows": 1, "columns": 0}
_SPACE = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:config="urn:oasis:names:tc:opendocument:xmlns:config:1.0"'
)


def _xlsx(
    place: str,
    state: str = "frozen",
    split: tuple[int, int] | None = None,
    first: str | None = None,
) -> Make:
    def freeze(book: Any) -> None:
        book.active.freeze_panes = place
        book.active.sheet_view.topLeftCell = first
        pane = book.active.sheet_view.pane
        if pane is not None:
            pane.state = state
            if split is not None:
                pane.xSplit, pane.ySplit = split

    return xlsx(DATA, None, freeze)


def _ods(
    rows: int, columns: int, mode: int = 2, name: str = "Data", table: str = "", **more: int
) -> Make:
    items = {
        **more,
        "HorizontalSplitMode": mode if columns else 0,
        "VerticalSplitMode": mode if rows else 0,
        "HorizontalSplitPosition": columns,
        "VerticalSplitPosition": rows,
    }
    rows_xml = "".join(
        f'<config:config-item config:name="{key}" config:type="int"> {value}\n</config:config-item>'
        for key, value in items.items()
    )
    entry = "config:config-item-map-entry"
    settings = (
        f'<office:document-settings {_SPACE} office:version="1.3"><office:settings>'
        '<config:config-item-set config:name="ooo:view-settings">'
        f'<config:config-item-map-indexed config:name="Views"><{entry}>'
        f'<config:config-item-map-named config:name="Tables"><{entry} config:name="{name}">'
        f"{rows_xml}</{entry}></config:config-item-map-named></{entry}>"
        "</config:config-item-map-indexed></config:config-item-set></office:settings>"
        "</office:document-settings>"
    )
    cell = '<table:table-cell office:value-type="float" office:value="1"/>'
    content = table or sheet("Data", [cell], [cell])
    return ods(content, files={"settings.xml": settings.encode()})


def _lines(row: str = "", second: str = "", column: str = "", repeated: int = 1) -> str:
    """Return a sheet with attributes for its first rows and its first column."""
    cell = '<table:table-cell office:value-type="float" office:value="1"/>'
    times = f' table:number-columns-repeated="{repeated}"' if repeated > 1 else ""
    return (
        f'<table:table table:name="Data"><table:table-column {column}{times}/>'
        '<table:table-column table:visibility="collapse"/>'
        f"<table:table-row {row}>{cell}</table:table-row>"
        f"<table:table-row {second}>{cell}</table:table-row></table:table>"
    )


_GONE, _FILTERED, _SEEN = (f'table:visibility="{how}"' for how in ("collapse", "filter", "visible"))


_good = {"xlsx": _xlsx("A2"), "ods": _ods(1, 0)}
TABLES = (
    CaseTable(
        panes_frozen,
        MachineFixture,
        (
            positive("xlsx", at(PATH, _good["xlsx"]), **_ARGS),
            positive("ods", at(PATH, _good["ods"]), **_ARGS),
            positive("rows and columns, xlsx", at(PATH, _xlsx("C3")), path=PATH, rows=2, columns=2),
            positive("rows and columns, ods", at(PATH, _ods(2, 1)), path=PATH, rows=2, columns=1),
            negative("no frozen panes", at(PATH, xlsx(DATA)), **_ARGS),
            negative("no frozen panes, ods", at(PATH, _ods(0, 0)), **_ARGS),
            near_miss("additional row", at(PATH, _xlsx("A3")), **_ARGS),
            near_miss("additional column", at(PATH, _xlsx("B2")), **_ARGS),
            near_miss("column instead of the row", at(PATH, _ods(0, 1)), **_ARGS),
            near_miss("missing sheet", at(PATH, _good["xlsx"]), **{**_ARGS, "sheet": "Other"}),
            *document_cases(_good, BARE, _ARGS),
            *pane_cases(_ARGS),
            forged("split but not frozen, xlsx", at(PATH, _xlsx("A2", "split")), **_ARGS),
            forged("split but not frozen, ods", at(PATH, _ods(1, 0, mode=1)), **_ARGS),
            forged(
                "scrolled down before freezing, ods", at(PATH, _ods(1, 0, PositionTop=9)), **_ARGS
            ),
            forged(
                "scrolled right before freezing, ods",
                at(PATH, _ods(0, 1, PositionLeft=2)),
                **{**_ARGS, "rows": 0, "columns": 1},
            ),
            another_way(
                "frozen from the first row, ods",
                at(PATH, _ods(1, 0, PositionTop=0, PositionLeft=3)),
                **_ARGS,
            ),
            forged("frozen row hidden, ods", at(PATH, _ods(1, 0, table=_lines(_GONE))), **_ARGS),
            forged(
                "frozen row filtered out, ods",
                at(PATH, _ods(1, 0, table=_lines(_FILTERED))),
                **_ARGS,
            ),
            forged(
                "frozen column hidden, ods",
                at(PATH, _ods(0, 1, table=_lines(column=_GONE))),
                **{**_ARGS, "rows": 0, "columns": 1},
            ),
            forged(
                "one of two frozen columns hidden, ods",
                at(PATH, _ods(0, 2, table=_lines())),
                **{**_ARGS, "rows": 0, "columns": 2},
            ),
            another_way(
                "columns after the frozen ones hidden, ods",
                at(PATH, _ods(0, 2, table=_lines(repeated=2))),
                **{**_ARGS, "rows": 0, "columns": 2},
            ),
            another_way(
                "next row hidden, ods",
                at(PATH, _ods(1, 0, table=_lines(_SEEN, _GONE))),
                **_ARGS,
            ),
            forged("on a different sheet", at(PATH, _ods(1, 0, name="Other")), **_ARGS),
            another_way("frozen split", at(PATH, _xlsx("A2", "frozenSplit")), **_ARGS),
            forged("frozen further down", at(PATH, _xlsx("A2", first="A50")), **_ARGS),
            another_way("explicit first cell", at(PATH, _xlsx("A2", first="A1")), **_ARGS),
            another_way("scrolled after freezing", at(PATH, _xlsx("A40", split=(0, 1))), **_ARGS),
        ),
    ),
)
