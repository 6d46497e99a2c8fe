"""Mutation testing of the built-in evaluators (`make mutate`).

Mutates code and states and checks whether the test cases detect it; exits with 1 if fewer than
90 % are detected.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.decorators import PLACES
from foundation.files import write_atomic
from tests.evaluator_cases.mutation.code import mutated_modules, prepared, tables_of
from tests.evaluator_cases.mutation.page import ModuleReports, update
from tests.evaluator_cases.mutation.states import mutate_states
from tests.evaluator_cases.registry import all_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluators.testing.case import CaseTable
    from tests.evaluator_cases.mutation.report import MutationReport

MIN_SCORE = 0.9
"""Share of mutants that must be detected."""

Reports = dict[str, dict[str, "MutationReport"]]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    options = _parser().parse_args(argv)
    tables = [table for table in all_tables() if options.on in {None, table.mark.on}]
    if options.names:
        reports = _mutate_evaluators(tables, options)
    else:
        reports = _mutate_modules(tables, options)
    if options.json:
        print(json.dumps(_to_json(reports), indent=2))  # noqa: T201
    else:
        _print(reports)
    scores = [report.score for parts in reports.values() for report in parts.values()]
    return 0 if all(score >= MIN_SCORE for score in scores) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.evaluator_cases.mutate")
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="an evaluator: mutate the code that it executes"
    )
    parser.add_argument("--module", action="append", help="a module, such as desktop.git")
    parser.add_argument("--on", choices=PLACES, help="only evaluators of one place")
    parser.add_argument("--sample", type=int, help="maximum number of code mutants per module")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--page", type=Path, help="Markdown page to record the results in")
    parser.add_argument("--json", action="store_true", help="print results as JSON")
    return parser


def _mutate_evaluators(tables: list[CaseTable], options: argparse.Namespace) -> Reports:
    """Mutate the code that some evaluators execute."""
    known = {table.mark.name for table in tables}
    _require(options.names, known, "evaluator")
    chosen = [table for table in tables if table.mark.name in options.names]
    with prepared(chosen) as ready:
        code = ready.mutate(sample=options.sample, seed=options.seed, is_whole=False)
    return {" ".join(options.names): {"code": code, "states": mutate_states(chosen)}}


def _mutate_modules(tables: list[CaseTable], options: argparse.Namespace) -> Reports:
    """Mutate modules one by one, each tested by the cases of the evaluators that use it.

    Cases are prepared once for consecutive modules that the same evaluators use.
    """
    known = mutated_modules(tables)
    names = [f"evaluators.{name.removeprefix('evaluators.')}" for name in options.module or ()]
    _require(names, known, "module")
    reports: Reports = {}
    for _, together in groupby(names or known, key=lambda name: _names(tables_of(name, tables))):
        first, *others = together
        with prepared(tables_of(first, tables)) as ready:
            for name in (first, *others):
                print(f"{name} ...", file=sys.stderr)  # noqa: T201
                own = [table for table in tables if table.evaluator.__module__ == name]
                code = ready.mutate(module=name, sample=options.sample, seed=options.seed)
                reports[name] = {"code": code, "states": mutate_states(own)}
                if options.page is not None:
                    _record(options.page, name, ModuleReports(**reports[name]))
    return reports


def _names(tables: Sequence[CaseTable]) -> list[str]:
    return [table.mark.name for table in tables]


def _record(page: Path, name: str, reports: ModuleReports) -> None:
    old = page.read_text(encoding="utf-8") if page.is_file() else ""
    write_atomic(page, update(old, {name: reports}))


def _require(names: Sequence[str], known: Sequence[str] | set[str], what: str) -> None:
    for name in names:
        if name not in known:
            sys.exit(f"Unknown {what} {name!r}. Known: {', '.join(sorted(known))}.")


def _to_json(reports: Mapping[str, Mapping[str, MutationReport]]) -> dict[str, Any]:
    return {
        name: {part: _counts(report) for part, report in parts.items()}
        for name, parts in reports.items()
    }


def _counts(report: MutationReport) -> dict[str, Any]:
    return {
        "mutants": len(report.results),
        "killed": report.killed,
        "equivalent": report.equivalent,
        "score": round(report.score, 4),
        "survivors": [
            {
                "mutant": result.name,
                "how": result.how,
                "equivalent": result.equivalent,
                "explained": result.explained,
            }
            for result in report.survivors
        ],
    }


def _print(reports: Mapping[str, Mapping[str, MutationReport]]) -> None:
    for name, parts in reports.items():
        for part, report in parts.items():
            print(  # noqa: T201
                f"{name} {part}: {len(report.results)} mutants, {report.killed} detected, "
                f"{report.equivalent} equivalent, score {report.score:.1%}"
            )
            for mutant in report.unexplained:
                print(f"    survived: {mutant}")  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
