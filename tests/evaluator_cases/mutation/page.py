"""Record mutation reports in a Markdown page, one row per module."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.evaluator_cases.mutation.report import MutationReport

_HEAD = """# Mutation testing of evaluators

Written by `make mutate`, module by module (`make mutate MUTATEFLAGS="--module NAME"` replaces the
rows of one). What is mutated is described in [evaluator-cases.md](evaluator-cases.md).
*Score*: detected / (mutants - equivalent). Mutants that were not detected are listed below the
table, by module and reason, at most six per reason if they are equivalent (`--json` has all);
a relevant mutant that was not detected is marked **survives**.

"""
_COUNTS = ("detected", "equivalent", "survived", "score")
_LISTED = 6
_COLUMNS = ("module", "mutants of code", *_COUNTS, "mutants of states", *_COUNTS)


@dataclass(frozen=True, slots=True)
class ModuleReports:
    """The reports of one module.

    Attributes:
        code: mutants of its code.
        states: mutants of the positive cases of its evaluators; empty without evaluators.
    """

    code: MutationReport
    states: MutationReport


def update(old: str, reports: Mapping[str, ModuleReports]) -> str:
    """Return the page with the rows and sections of some modules replaced.

    Args:
        old: the page; empty if there is none.
        reports: by the module's name.
    """
    rows = {line.split(" | ")[0][2:]: line for line in old.splitlines() if line.startswith("| ev")}
    _, *parts = re.split(r"(?m)^(?=## )", old)
    sections = {part.splitlines()[0][3:]: part.rstrip() for part in parts}
    for module, report in reports.items():
        rows[module] = _row(module, report)
        sections[module] = _section(module, report)
    rule = "|---|" + "--:|" * (len(_COLUMNS) - 1)
    table = [f"| {' | '.join(_COLUMNS)} |", rule, *(rows[name] for name in sorted(rows))]
    texts = [sections[name] for name in sorted(sections) if sections[name]]
    return _HEAD + "\n\n".join(["\n".join(table), *texts]) + "\n"


def _row(module: str, reports: ModuleReports) -> str:
    cells = [module]
    for report in (reports.code, reports.states):
        score = f"{report.score:.1%}" if report.results else "-"
        numbers = (
            len(report.results),
            report.killed,
            report.equivalent,
            len(report.unexplained),
        )
        cells += [*map(str, numbers), score]
    return f"| {' | '.join(cells)} |"


def _section(module: str, reports: ModuleReports) -> str:
    """List undetected mutants by reason; empty if all were detected."""
    by_reason: dict[str, list[str]] = {}
    for result in (*reports.code.survivors, *reports.states.survivors):
        reason = result.equivalent or (
            f"**survives**: {result.explained or result.how or 'still met'}"
        )
        by_reason.setdefault(reason, []).append(result.name.removeprefix(f"{module}."))
    if not by_reason:
        return ""
    lines = [f"## {module}", ""]
    for reason, names in sorted(by_reason.items()):
        items = [f"    - {_quoted(name)}" for name in names]
        if len(names) > _LISTED and not reason.startswith("**"):
            items[_LISTED:] = [f"    - and {len(names) - _LISTED} more"]
        lines += [f"- {reason}", *items]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return any text as a Markdown code span."""
    marks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if len(marks) > 1 else ""
    return f"{marks}{pad}{text}{pad}{marks}"
