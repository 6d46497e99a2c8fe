"""Keep what mutation found in a Markdown page: one row a module, replaced when it is run again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.casebook.mutation import Report

_HEAD = """# Mutation

Written by `mesocosm evaluators mutate --page docs/mutation.md`, module by module (`--module NAME`
replaces the rows of one). What is put in, and what counts, stands in [casebook.md](casebook.md).
*Score*: noticed / (put in - change nothing). What was not noticed is listed below the table, by
module and reason, at most six of a kind where nothing that counts is changed (`--json` has all);
what counts and was not noticed is marked **survives**.

"""
_COUNTS = ("noticed", "change nothing", "survive", "score")
_LISTED = 6
_COLUMNS = ("module", "in code", *_COUNTS, "in states", *_COUNTS)


@dataclass(frozen=True, slots=True)
class Examined:
    """What became of the faults of one module.

    Attributes:
        code: put into it.
        states: put into the positive cases of its evaluators; none where it holds none.
    """

    code: Report
    states: Report


def update(old: str, found: Mapping[str, Examined]) -> str:
    """Put what was found into the page, beside what it holds of other modules.

    Args:
        old: the page; empty when there is none.
        found: by the module's name.
    """
    rows = {line.split(" | ")[0][2:]: line for line in old.splitlines() if line.startswith("| ev")}
    _, *parts = re.split(r"(?m)^(?=## )", old)
    sections = {part.splitlines()[0][3:]: part.rstrip() for part in parts}
    for module, examined in found.items():
        rows[module] = _row(module, examined)
        sections[module] = _section(module, examined)
    rule = "|---|" + "--:|" * (len(_COLUMNS) - 1)
    table = [f"| {' | '.join(_COLUMNS)} |", rule, *(rows[name] for name in sorted(rows))]
    told = [sections[name] for name in sorted(sections) if sections[name]]
    return _HEAD + "\n\n".join(["\n".join(table), *told]) + "\n"


def _row(module: str, examined: Examined) -> str:
    cells = [module]
    for report in (examined.code, examined.states):
        survive = len(report.survivors) - report.equivalent
        score = f"{report.score:.1%}" if report.fates else "-"
        numbers = (len(report.fates), report.killed, report.equivalent, survive)
        cells += [*map(str, numbers), score]
    return f"| {' | '.join(cells)} |"


def _section(module: str, examined: Examined) -> str:
    """List what was not noticed, by reason; empty when all was."""
    found: dict[str, list[str]] = {}
    for fate in (*examined.code.survivors, *examined.states.survivors):
        why = fate.equivalent or f"**survives**: {fate.explained or fate.how or 'still met'}"
        found.setdefault(why, []).append(fate.name.removeprefix(f"{module}."))
    if not found:
        return ""
    lines = [f"## {module}", ""]
    for why, names in sorted(found.items()):
        told = [f"    - {_quoted(name)}" for name in names]
        if len(names) > _LISTED and not why.startswith("**"):
            told[_LISTED:] = [f"    - and {len(names) - _LISTED} more"]
        lines += [f"- {why}", *told]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Make a Markdown code span of any text."""
    marks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if len(marks) > 1 else ""
    return f"{marks}{pad}{text}{pad}{marks}"
