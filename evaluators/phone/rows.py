"""Read the rows of a content provider, one column at a time.

``content query`` separates columns by ``, `` and rows by newlines, and does not quote either.
Values with commas would be ambiguous, and a value may contain a line that looks like a row.
Therefore the rows must match the ids, in their order; if there are additional rows, each row is
queried separately.

Source: AOSP ``Content.java``, ``QueryCommand``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foundation.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Callable

    Query = Callable[..., str]
    """Run ``content query`` with the arguments and return its output."""

MAX_SINGLE_ROWS = 200
"""Maximum number of rows that are queried separately."""

_ROW = re.compile(r"^Row: (\d+) _id=(\d+), ", re.MULTILINE)
_ID = re.compile(r"Row: (\d+) _id=(\d+)")
_NONE = frozenset({"", "No result found."})


def read_column(query: Query, uri: str, column: str) -> dict[int, str]:
    """Return one column of a provider's rows, by row id; NULL becomes an empty text.

    Args:
        query: function that queries the phone.
        uri: URI of the table.
        column: name of the column.

    Raises:
        EvaluationError: the phone's output does not consist of rows.
    """
    ids = _ids(query("--uri", uri, "--projection", "_id"))
    output = query("--uri", uri, "--projection", f"_id:{column}") if ids else ""
    heads = list(_ROW.finditer(output))
    if [(int(head[1]), int(head[2])) for head in heads] != list(enumerate(ids)):
        return _singly(query, uri, column, ids)
    if heads and heads[0].start() > 0:
        raise EvaluationError("A content provider returned no rows.", details=output[:400])
    ends = [*(head.start() - 1 for head in heads), len(output.removesuffix("\n"))][1:]
    return {
        int(head[2]): _value(output[head.end() : end], column)
        for head, end in zip(heads, ends, strict=True)
    }


def _ids(output: str) -> list[int]:
    """Return the row ids, in the phone's order."""
    lines = [] if output.strip() in _NONE else output.splitlines()
    matches = [_ID.fullmatch(line) for line in lines]
    ids = [int(match[2]) for match in matches if match]
    if [int(match[1]) for match in matches if match] != list(range(len(lines))):
        raise EvaluationError("A content provider returned no rows.", details=output[:400])
    if len(set(ids)) < len(ids):
        raise EvaluationError(
            "A content provider returned duplicate row ids.", details=output[:400]
        )
    return ids


def _singly(query: Query, uri: str, column: str, ids: list[int]) -> dict[int, str]:
    """Query rows separately and leave out those that no longer exist."""
    if len(ids) > MAX_SINGLE_ROWS:
        raise EvaluationError(f"{len(ids)} rows are too many to be queried separately.")
    values: dict[int, str] = {}
    for row in ids:
        output = query("--uri", uri, "--projection", column, "--where", f"_id={row}")
        if output.strip() not in _NONE:
            values[row] = _value(output.removeprefix("Row: 0 ").removesuffix("\n"), column)
    return values


def _value(text: str, column: str) -> str:
    label, _, value = text.partition("=")
    if label != column:
        raise EvaluationError("A content provider returned no rows.", details=text[:400])
    return "" if value == "NULL" else value
