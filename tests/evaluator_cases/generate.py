"""Generate the index of the test cases and the reference pages of all functions (`make cases`)."""

from __future__ import annotations

from pathlib import Path

from controller.actions.vocabulary import action_tools, setup_tools
from evaluators.catalogue import builtin_evaluators, distinct_tools
from evaluators.reference import render_operations, render_reference
from evaluators.testing.index import INDEX, case_index, render_index
from evaluators.view_reference import render_views
from foundation.files import write_atomic
from tests.evaluator_cases.registry import all_tables

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main() -> None:
    """Write all files."""
    write_atomic(INDEX, render_index(all_tables()))
    case_index.cache_clear()
    write_atomic(DOCS / "evaluators.md", render_reference(distinct_tools(builtin_evaluators())))
    write_atomic(DOCS / "views.md", render_views())
    write_atomic(DOCS / "actions.md", render_operations(action_tools(), setup_tools()))


if __name__ == "__main__":
    main()
