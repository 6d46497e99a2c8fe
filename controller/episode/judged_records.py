"""Identify the rows of a phone's content providers that a check judges."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from provisioning.protocols import StateKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.episode.changes import Change
    from evaluators.model.node import Check

    Columns = dict[str, str]

_CONTACT = ("com.android.contacts/", ("name", "number", "email"))
_TASK = ("com.google.android.apps.tasks/", ("title",))
_MESSAGE = ("sms", ("text",))
_JUDGED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "task_listed": _TASK,
    "task_completed": _TASK,
    "contact_exists": _CONTACT,
    "message_sent": _MESSAGE,
    "message_received": _MESSAGE,
    "message_drafted": _MESSAGE,
    "call_logged": ("call_log/", ("number",)),
}
"""Provider, and the arguments that contain values of its rows, by evaluator."""

_COLUMN = re.compile(r"(?:^|, )(\w+)=")
_IGNORED = re.compile(r"[\s().-]+")
"""Characters that evaluators ignore in phone numbers."""


def judged_records(changes: Iterable[Change], checks: Iterable[Check]) -> frozenset[Change]:
    """Return the changes of rows that checks judge.

    A check judges a row that has the check's values before or after the trial, and all changes of
    the row with the same ``_id``.

    Args:
        changes: changes on one machine.
        checks: checks of this machine.
    """
    rows = [
        (change, change.name.partition(" ")[0], _columns(change.name))
        for change in changes
        if change.kind is StateKind.RECORD
    ]
    judged = {
        (table, columns.get("_id", ""))
        for check in checks
        for _, table, columns in rows
        if _is_judged(check, table, columns)
    }
    return frozenset(
        change for change, table, columns in rows if (table, columns.get("_id", "")) in judged
    )


def _is_judged(check: Check, table: str, columns: Columns) -> bool:
    uri, where = check.args.get("uri"), check.args.get("where")
    if isinstance(uri, str) and isinstance(where, dict):
        shown = [name for name in where if name in columns]
        is_table = uri.removeprefix("content://").strip("/") == table
        return is_table and bool(shown) and all(columns[name] == where[name] for name in shown)
    provider, names = _JUDGED.get(check.check, ("", ()))
    wanted = {_plain(str(check.args[name])) for name in names if check.args.get(name)}
    return bool(names) and table.startswith(provider) and not wanted.isdisjoint(_values(columns))


def _values(columns: Columns) -> set[str]:
    return {_plain(value) for name, value in columns.items() if name != "_id"}


def _columns(name: str) -> Columns:
    """Parse the columns of a row in the unquoted format that ``content query`` prints."""
    row = name.partition(" ")[2]
    heads = list(_COLUMN.finditer(row))
    ends = [*(head.start() for head in heads), len(row)][1:]
    return {head[1]: row[head.end() : end] for head, end in zip(heads, ends, strict=True)}


def _plain(value: str) -> str:
    return _IGNORED.sub("", value).casefold()
