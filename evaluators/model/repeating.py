"""Repeat the entries of a subtask for each item of a list: its nodes, setup steps, and solutions."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic import BaseModel, JsonValue

    from foundation.yaml_source import Where

EACH = "each"
"""Key of an entry that is repeated: the name of an input of type ``list``."""
ITEM, NUMBER = "item", "number"
ITEM_NAMES = (ITEM, NUMBER)
"""Placeholders in repeated entries: the item, and its number from 1."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a subtask, or one of its repetitions.

    Attributes:
        number: position in the file.
        row: its content, without the key `EACH`.
        values: values of placeholders, in addition to the inputs.
    """

    number: int
    row: dict[str, Any]
    values: Mapping[str, JsonValue] = field(default_factory=dict)


def repeat(entries: Sequence[BaseModel], values: Mapping[str, JsonValue]) -> list[Entry]:
    """Return entries with repetitions; neighbours with the same `EACH` are repeated together.

    Args:
        entries: nodes or steps of a subtask.
        values: values of its inputs.

    Raises:
        TypeError: the input is not a list with items.
    """
    rows = [
        (number, entry.model_dump(mode="json", by_alias=True, exclude_defaults=True))
        for number, entry in enumerate(entries)
    ]
    copies: dict[str, list[str]] = {}
    repeated: list[Entry] = []
    for name, group in groupby(rows, key=lambda numbered: numbered[1].pop(EACH, "")):
        together = list(group)
        if not name:
            repeated += [Entry(number, row) for number, row in together]
            continue
        items = _items(name, values)
        for place, item in enumerate(items, 1):
            for number, row in together:
                copy = dict(row)
                if "id" in row:
                    copy["id"] = f"{row['id']}-{place}"
                    copies.setdefault(row["id"], []).append(copy["id"])
                repeated.append(Entry(number, copy, {ITEM: item, NUMBER: place}))
    return [_with_copies(entry, copies) for entry in repeated]


def _items(name: str, values: Mapping[str, JsonValue]) -> list[JsonValue]:
    items = values.get(name)
    if not isinstance(items, list) or not items:
        raise TypeError(f"`{EACH}: {name}` needs a list with items, not {items!r}")
    return items


def _with_copies(entry: Entry, copies: Mapping[str, Sequence[str]]) -> Entry:
    """Return a node that comes after the copies of its predecessors, or after that of its own item."""
    if not entry.row.get("after"):
        return entry
    place = entry.values.get(NUMBER)
    after: list[str] = []
    for name in entry.row["after"]:
        of_item = f"{name}-{place}"
        known = copies.get(name, [name])
        after += [of_item] if of_item in known else known
    return Entry(entry.number, {**entry.row, "after": after}, entry.values)


def repetitions(data: object) -> Iterator[tuple[Where, str]]:
    """Iterate over the position and value of each key `EACH` in the content of a subtask's file."""
    content = data if isinstance(data, dict) else {}
    named = content.get("oracles")
    lists: list[tuple[Where, object]] = [
        ((key,), content.get(key)) for key in ("setup", "checks", "oracle")
    ]
    lists += [
        (("oracles", name), steps)
        for name, steps in (named if isinstance(named, dict) else {}).items()
    ]
    for where, rows in lists:
        for number, row in enumerate(rows if isinstance(rows, list) else ()):
            if isinstance(row, dict) and isinstance(row.get(EACH), str):
                yield (*where, number, EACH), row[EACH]
