"""Choose the test files that depend on what has changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import networkx as nx

from foundation.process import run
from tests.inner_loop.graph import LATER, PAGES, read_graph

if TYPE_CHECKING:
    from collections.abc import Iterable

TESTS = "tests/unit"
MAIN = ("main", "origin/main")
CONFTEST = "conftest.py"
MOST_LATER = 2
"""A command imports what it needs when it runs, and that may do the same: two such steps are followed.
With more, nearly all files would depend on each other."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which test files to run, and why.

    Attributes:
        base: commit with which the files were compared; empty if there is none.
        changed: files that differ.
        tests: test files that depend on them.
        left: test files that are not run.
        reason: why all are run; empty if they were chosen.
    """

    base: str
    changed: tuple[str, ...]
    tests: tuple[str, ...]
    left: tuple[str, ...] = ()
    reason: str = ""


def choose(root: Path) -> Choice:
    """Compare the files of a repository with the merge base of its branch, and choose tests.

    Args:
        root: root of the repository.
    """
    names = set(_git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"))
    base = merge_base(root)
    if not base:
        return Choice(
            "", (), tuple(sorted(filter(is_test, names))), (), "no branch main to compare with"
        )
    changed = {*_git(root, "diff", "--name-only", "--no-renames", "-z", base)}
    changed |= {*_git(root, "ls-files", "-z", "--others", "--exclude-standard")}
    return select(read_graph(root, names | changed), root, changed, base)


def select(graph: nx.DiGraph[str], root: Path, changed: Iterable[str], base: str) -> Choice:
    """Return the tests of changed files.

    Args:
        graph: of all files, those that were removed included.
        root: root of the repository.
        changed: files that differ.
        base: commit with which they were compared.
    """
    tests = {name for name in graph if is_test(name) and (root / name).is_file()}
    importers = graph.reverse()
    chosen: set[str] = set()
    shown = tuple(sorted(changed))
    for name in shown:
        if not (found := _dependents(importers, name, tests)) and _is_read_by_something(name):
            return Choice(
                base, shown, tuple(sorted(tests)), (), f"no test is known to depend on {name}"
            )
        chosen |= found
    rules = {name for name in tests if PurePosixPath(name).parent == PurePosixPath(TESTS).parent}
    chosen |= rules if shown else set()
    return Choice(base, shown, tuple(sorted(chosen)), tuple(sorted(tests - chosen)))


def merge_base(root: Path) -> str:
    """Return the commit at which the branch left the main one; empty if there is no such branch."""
    for branch in MAIN:
        ended = run(["git", "merge-base", "HEAD", branch], cwd=root)
        if ended.exit_code == 0:
            return ended.text.strip()
    return ""


def is_test(name: str) -> bool:
    """Return whether a path is that of a test file of `make test-fast`."""
    path = PurePosixPath(name)
    is_there = path.is_relative_to(TESTS) or path.parent == PurePosixPath(TESTS).parent
    return is_there and path.name.startswith("test_") and path.suffix == ".py"


def _is_read_by_something(name: str) -> bool:
    """Return whether a file without known dependents may have some.

    Pages have none but those that name them; modules of other tests are of no account to these; what
    a package holds is imported by name.
    """
    path = PurePosixPath(name)
    is_of_tests = path.parts[0] == "tests" and path.suffix == ".py"
    return not (_is_page(name) or is_of_tests or path.name == "__init__.py")


def _is_page(name: str) -> bool:
    return name.endswith(".md") or name.startswith(f"{PAGES}/")


def _dependents(importers: nx.DiGraph[str], name: str, tests: set[str]) -> set[str]:
    """Return the tests that depend on a file; on its folder, if it is not known who reads it."""
    starts = [name]
    is_module = name.endswith(".py")
    if not is_module and not _is_page(name):
        starts += _beside(importers, name)
    found = _reached(importers, starts, tests)
    if not found and not _is_page(name):
        found = _mirrored(name, tests)
    return found


def _reached(importers: nx.DiGraph[str], starts: list[str], tests: set[str]) -> set[str]:
    """Return the tests that import or name one of some files, directly or not."""
    steps = nx.multi_source_dijkstra_path_length(
        importers, set(starts), cutoff=MOST_LATER, weight=LATER
    )
    found = tests & steps.keys()
    # What conftest files would import later is not what every test of their folder does.
    loaded = [PurePosixPath(name) for name, later in steps.items() if not later]
    for folder in [path.parent for path in loaded if path.name == CONFTEST]:
        found |= {test for test in tests if PurePosixPath(test).is_relative_to(folder)}
    return found


def _beside(graph: nx.DiGraph[str], name: str) -> list[str]:
    """Return the modules of the nearest folder around a file that has any; none of the root and of all tests."""
    for folder in PurePosixPath(name).parents:
        modules = [
            other
            for other in graph
            if other.endswith(".py") and PurePosixPath(other).parent == folder
        ]
        if modules:
            return modules if folder.parts not in {(), ("tests",)} else []
    return []


def _mirrored(name: str, tests: set[str]) -> set[str]:
    """Return the tests of the folder that mirrors that of a file, or of one around it."""
    for folder in PurePosixPath(name).parents:
        if len(folder.parts) < 2:
            return set()
        if found := {
            test for test in tests if PurePosixPath(test).is_relative_to(f"{TESTS}/{folder}")
        }:
            return found
    return set()


def _git(root: Path, *args: str) -> list[str]:
    output = run(["git", *args], cwd=root).require().stdout.decode()
    return [name for name in output.split("\0") if name]
