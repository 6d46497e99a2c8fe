"""Record the views of all test cases' documents: ``python -m tests.evaluator_cases.record_views [--anew] [NAME ...]``.

Without names, files that no case uses any more are removed.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

from evaluators.rendering.client import open_views
from evaluators.testing.machine import MachineFixture
from evaluators.testing.recorded_views import RecordedViews
from evaluators.testing.runner import prepare
from foundation.settings import get_settings
from tests.evaluator_cases.registry import VIEWS, all_tables

if TYPE_CHECKING:
    from evaluators.testing.case import CaseTable


AT_ONCE = 2


def _record(table: CaseTable) -> str:
    """Evaluate the cases of a table; return a line for each wrong one, and one for the table."""
    lines = []
    for case in table.cases:
        with prepare(table, case) as prepared:
            evaluation = prepared.evaluate()
        if evaluation.met is not case.met:
            lines.append(f"{table.mark.name}: {case.kind.value}: {case.name}: {evaluation}")
    return "\n".join(
        [*lines, f"{table.mark.name}: {len(table.cases)} cases, {len(lines)} wrong", ""]
    )


def main() -> None:
    """Evaluate all cases with a renderer; the views that they ask for are recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="evaluators; by default all")
    parser.add_argument("--anew", action="store_true", help="also those that are recorded")
    options = parser.parse_args()
    if options.anew and not options.names:
        for path in VIEWS.glob("*.gz"):
            path.unlink()
    tables = [
        table
        for table in all_tables()
        if table.mark.on in {"documents", "session"}
        if not options.names or table.mark.name in options.names
    ]
    with closing(open_views(get_settings(), size=AT_ONCE)) as renderer:
        views = RecordedViews(VIEWS, renderer, is_recording=True)
        MachineFixture.views = views
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for lines in pool.map(_record, tables):
                sys.stdout.write(lines)
    if not options.names:
        for path in VIEWS.glob("*.gz"):
            if path.name not in views.used:
                path.unlink()


if __name__ == "__main__":
    main()
