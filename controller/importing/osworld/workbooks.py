"""OSWorld's function for workbooks, compare_table, rule by rule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from controller.importing.errors import NotCarriedError
from controller.importing.osworld.job import carries, check
from controller.importing.osworld.table import mapping, require

if TYPE_CHECKING:
    from controller.importing.draft import Row
    from controller.importing.osworld.file import Judgement
    from controller.importing.osworld.job import Job

_DIGITS = 4
"""Decimals that sheet_data compares unless the rule says otherwise."""
_ASPECTS = {
    "sheet_data": "values",
    "sheet_print": "text",
    "sheet_name": "structure",
    "chart": "structure",
    "pivot_table": "structure",
    "freeze": "structure",
    "row_props": "structure",
    "col_props": "structure",
    "style": "formatting",
}
_ANY_PLACE_MM = 100_000.0
"""Tolerance with which charts may be anywhere."""
_RESULT, _EXPECTED = "RI", "EI"


@carries("compare_table")
def _workbook(job: Job, judged: Judgement) -> list[Row]:
    rules = judged.options.get("rules")
    if not isinstance(rules, list) or not rules:
        raise NotCarriedError("option", f"{judged.function}: no rules")
    aspects: list[str] = []
    tolerances: dict[str, float] = {}
    own: list[Row] = []
    for rule in rules:
        kind = str(rule.get("type"))
        entry = require(mapping().table_rules, kind, "option")
        if entry.extent:
            job.draft.miss("extent", f"compare_table, {kind}: ours also compares {entry.extent}")
        if kind == "zoom":
            own.append(_zoom(job, judged, rule))
        elif kind == "check_cell":
            own += _cell(job, judged, rule)
        else:
            _require_same_sheet(rule, kind)
            aspects.append(_ASPECTS[kind])
            tolerances |= _tolerances(job, rule, kind)
    if not aspects:
        return own
    reference = job.draft.keep_file(job.reference(judged))
    args: dict[str, Any] = {
        "path": job.path(judged),
        "reference": reference,
        "aspects": list(dict.fromkeys(aspects)),
    }
    if tolerances:
        args["tolerances"] = tolerances
    return [check("document_same_as", **args), *own]


def _tolerances(job: Job, rule: dict[str, Any], kind: str) -> dict[str, float]:
    """Return the tolerances that a rule needs."""
    if kind == "sheet_data":
        return {"number": 10.0 ** -int(rule.get("precision", _DIGITS)) / 2}
    if kind == "chart":
        return {"position_mm": _ANY_PLACE_MM}
    if kind == "sheet_print" and rule.get("ignore_case"):
        text = "compare_table, sheet_print: ignore_case is on; ours compares letter case"
        job.draft.miss("extent", text)
    return {}


def _require_same_sheet(rule: dict[str, Any], kind: str) -> None:
    """Refuse a rule that compares two different sheets, such as a copy in the same workbook."""
    if kind == "sheet_name":
        return
    ours, theirs = (_sheet(rule.get(key)) for key in ("sheet_idx0", "sheet_idx1"))
    if ours[0] != "R" or theirs[0] != "E" or ours[1:] != theirs[1:]:
        pair = f"{rule.get('sheet_idx0')} and {rule.get('sheet_idx1')}"
        raise NotCarriedError("option", f"compare_table, {kind}: compares the sheets {pair}")


def _sheet(name: object) -> str:
    """Return ``RI0``, ``RNSheet1``, ``EI0`` … for a sheet of the result or of what is expected."""
    return f"{_RESULT}{name}" if isinstance(name, int) else str(name)


def _named_sheet(rule: dict[str, Any], kind: str) -> dict[str, str]:
    """Return the argument for a sheet of the result: none for the first one."""
    name = _sheet(rule.get("sheet_idx"))
    if name == f"{_RESULT}0":
        return {}
    if name.startswith("RN"):
        return {"sheet": name[2:]}
    raise NotCarriedError("option", f"compare_table, {kind}: the sheet {rule.get('sheet_idx')}")


def _zoom(job: Job, judged: Judgement, rule: dict[str, Any]) -> Row:
    if rule.get("method") != "eq":
        raise NotCarriedError("option", f"compare_table, zoom: {rule.get('method')}")
    args: dict[str, Any] = {"percent": int(rule["ref"]), **_named_sheet(rule, "zoom")}
    return check("sheet_zoom_equals", path=job.path(judged), **args)


def _cell(job: Job, judged: Judgement, rule: dict[str, Any]) -> list[Row]:
    rows = []
    for name, wanted in rule.get("props", {}).items():
        if name != "value":
            raise NotCarriedError("option", f"compare_table, check_cell: {name}")
        method = str(wanted.get("method"))
        args: dict[str, Any] = {"cell": rule["coordinate"], "value": wanted["ref"]}
        if near := re.fullmatch(r"approx:([0-9.]+)", method):
            args["tolerance"] = float(near[1])
        elif method != "eq":
            raise NotCarriedError("option", f"compare_table, check_cell: {method}")
        args |= _named_sheet(rule, "check_cell")
        rows.append(check("cell_equals", path=job.path(judged), **args))
    return rows
