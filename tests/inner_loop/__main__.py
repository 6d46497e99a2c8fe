"""Run the fast tests of what has changed since the merge base with main, uncommitted files included.

    python -m tests.inner_loop [--all] [--list] [PYTEST ARGUMENT...]

``--all`` runs all fast tests, ``--list`` only prints the chosen files.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.inner_loop.choice import TESTS, choose
from tests.tiers import FAST

if TYPE_CHECKING:
    from tests.inner_loop.choice import Choice

REPOSITORY = Path(__file__).resolve().parents[2]
_SHOWN = 8
_PYTEST = (
    *("-q", "-n", "2", "--dist", "loadscope", "--no-loadscope-reorder", "-m", FAST),
    *("--durations", "5", "--durations-min", "2"),
)


def main(argv: list[str]) -> int:
    """Run the command line and return the exit code."""
    rest = [arg for arg in argv if arg not in {"--all", "--list"}]
    rules = sorted(
        str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "tests").glob("test_*.py")
    )
    paths = [TESTS, *rules]
    if "--all" not in argv:
        choice = choose(REPOSITORY)
        _say(*describe(choice))
        if choice.left:
            paths = list(choice.tests)
    if "--list" in argv or not paths:
        print("\n".join(paths))  # noqa: T201 - the command's output
        return 0
    # Tests start hundreds of processes, each of which would recompile everything.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.chdir(REPOSITORY)
    code = int(pytest.main([*_PYTEST, *paths, *rest]))
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        _say("None of these files has a fast test: make test-unit runs the others.")
        return 0
    return code


def describe(choice: Choice) -> list[str]:
    """Return what was chosen, and what is not run, as lines for people."""
    count = len(choice.tests) + len(choice.left)
    if not choice.base:
        return [f"All {count} test files: {choice.reason}."]
    since = f"since {choice.base[:12]}, the merge base with main"
    if not choice.changed:
        return [f"Nothing has changed {since}: no test is run. ALL=1 runs all {count} test files."]
    more = len(choice.changed) - _SHOWN
    names = ", ".join(choice.changed[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    lines = [f"{len(choice.changed)} files have changed {since}: {names}"]
    if choice.reason:
        return [*lines, f"All {count} test files are run: {choice.reason}."]
    left = len(choice.left)
    what = f"{len(choice.tests)} of {count} test files depend on them"
    return [*lines, f"{what}; the fast tests of the other {left} are not run (ALL=1 runs all)."]


def _say(*lines: str) -> None:
    print(*lines, sep="\n", file=sys.stderr, flush=True)  # noqa: T201 - the command's output


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
