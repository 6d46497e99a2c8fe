"""The index of the test cases of the built-in evaluators.

The cases are part of the tests, not of the product, so commands that show them read this index.
``make cases`` generates it, and a test fails if it is out of date.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, TypeAdapter

from evaluators.testing.case import CaseKind
from evaluators.testing.runner import EXPECTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evaluators.testing.case import CaseTable

INDEX = Path(__file__).with_name("index.json")


class CaseGroup(BaseModel):
    """Cases of one evaluator with the same kind and expected verdict.

    Attributes:
        kind: kind of the cases.
        expected: ``met``, ``unmet`` or ``inconclusive``.
        cases: names of the cases.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: CaseKind
    expected: str
    cases: tuple[str, ...]


Index = dict[str, tuple[CaseGroup, ...]]
_INDEX = TypeAdapter(Index)


@cache
def case_index() -> Mapping[str, tuple[CaseGroup, ...]]:
    """Return the cases of each built-in evaluator, by ``PLACE.NAME``."""
    return _INDEX.validate_json(INDEX.read_bytes())


def kind_counts(
    name: str, index: Mapping[str, tuple[CaseGroup, ...]] | None = None
) -> dict[str, int]:
    """Return the number of cases by kind.

    Args:
        name: ``PLACE.NAME`` of an evaluator; the result is empty if it has no cases.
        index: index of the cases; by default that of the built-in evaluators.
    """
    counts: Counter[str] = Counter()
    for group in (case_index() if index is None else index).get(name, ()):
        counts[group.kind.value] += len(group.cases)
    return dict(counts)


def render_index(tables: Iterable[CaseTable]) -> str:
    """Return the text of the index, with one line per group of cases."""
    entries = []
    for table in sorted(tables, key=lambda table: (table.mark.on, table.mark.name)):
        rows = [group.model_dump(mode="json") for group in groups_of(table)]
        groups = ",\n".join(f"    {_dump(row)}" for row in rows)
        entries.append(f"  {_dump(f'{table.mark.on}.{table.mark.name}')}: [\n{groups}\n  ]")
    return "{\n" + ",\n".join(entries) + "\n}\n"


def groups_of(table: CaseTable) -> tuple[CaseGroup, ...]:
    """Return the cases grouped by kind, in the order of `CaseKind`, and by expected verdict."""
    groups: dict[tuple[CaseKind, str], list[str]] = {}
    for kind in CaseKind:
        for case in table.cases:
            if case.kind is kind:
                groups.setdefault((kind, EXPECTED[case.met]), []).append(case.name)
    return tuple(
        CaseGroup(kind=kind, expected=expected, cases=tuple(names))
        for (kind, expected), names in groups.items()
    )


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
