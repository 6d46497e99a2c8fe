"""Generate the index of the test cases and the reference page of all evaluators (`make cases`)."""

from __future__ import annotations

from pathlib import Path

from appliance.base.files import write_atomic
from evaluators.catalogue import builtin_evaluators, distinct_tools
from evaluators.reference import render_reference
from evaluators.testing.index import INDEX, case_index, render_index
from tests.evaluator_cases.registry import all_tables

PAGE = Path(__file__).resolve().parents[2] / "docs/evaluators.md"


def main() -> None:
    """Write both files."""
    write_atomic(INDEX, render_index(all_tables()))
    case_index.cache_clear()
    write_atomic(PAGE, render_reference(distinct_tools(builtin_evaluators())))


if __name__ == "__main__":
    main()
