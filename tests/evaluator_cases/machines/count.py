"""Count the cases that run on a machine, and the others: ``python -m tests.evaluator_cases.machines.count``."""

from __future__ import annotations

import sys
from collections import Counter

from tests.evaluator_cases.machines.staging import Reason, modules, stage, staging_folder

PLAYED = "run on a machine"


def count() -> Counter[str]:
    """Return the number of cases by where they run, or why they do not run on a machine."""
    counts: Counter[str] = Counter()
    for tables in modules().values():
        with staging_folder() as folder:
            cases = [(table, case) for table in tables for case in table.cases]
            for number, (table, case) in enumerate(cases):
                staged = stage(table, case, number, folder, "/home/user")
                counts[staged.value if isinstance(staged, Reason) else PLAYED] += 1
    return counts


def render() -> str:
    """Return the numbers as a Markdown table."""
    rows = [f"| {name} | {number:,} |" for name, number in count().most_common()]
    return "\n".join(["| cases of desktop evaluators | number |", "|---|---:|", *rows, ""])


if __name__ == "__main__":
    sys.stdout.write(render())
