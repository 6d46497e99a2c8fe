from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

import pytest

from evaluators.catalogue import builtin_evaluators
from evaluators.source_digest import SourceDigester

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RELATIVE = "from .shared import limit"
MODULE = '''"""Evaluators of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from probed.shared import limit

if TYPE_CHECKING:
    from probed.types import Thing


def helper(value: int) -> bool:
    return value < limit()


@evaluator(on="desktop")
def first(guest: Thing, value: int) -> bool:
    """Return whether it is small."""
    # A comment.
    return helper(value)


@evaluator(on="desktop")
def second(guest: Thing) -> bool:
    """Return whether one is small."""
    return first(guest, 1)


@evaluator(on="desktop")
def third(guest: Thing) -> bool:
    """Return nothing of interest."""
    return True
'''


class Package:
    """A package with three evaluators, whose sources a test changes."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "probed"
        self.folder.mkdir()
        self.write("__init__", '"""A package."""\n')
        self.write("shared", '"""Shared."""\n\n\ndef limit() -> int:\n    return 3\n')
        self.write("types", '"""Types."""\n\n\nclass Thing:\n    pass\n')
        self.write("checks", MODULE)
        self.module = importlib.import_module("probed.checks")

    def write(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(text)

    def change(self, old: str, new: str, name: str = "checks") -> None:
        path = self.folder / f"{name}.py"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def digests(self) -> dict[str, str]:
        digester = SourceDigester()
        names = ("first", "second", "third")
        return {name: digester.digest(getattr(self.module, name)) for name in names}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    monkeypatch.syspath_prepend(tmp_path)
    yield Package(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "probed"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("old", "new", "name", "changed"),
    [
        ("return helper(value)", "return not helper(value)", "checks", {"first", "second"}),
        ("return first(guest, 1)", "return first(guest, 2)", "checks", {"second"}),
        ("return True", "return False", "checks", {"third"}),
        ("value < limit()", "value <= limit()", "checks", {"first", "second", "third"}),
        ("return 3", "return 4", "shared", {"first", "second", "third"}),
        ("# A comment.", "# Another.", "checks", set()),
        ("Return whether it is small.", "Return more\n\n    lines.", "checks", set()),
        ('"""Shared."""', '"""Shared by all."""', "shared", set()),
        ("pass", "name = 1", "types", set()),
    ],
)
def test_relevant_changes_change_the_digest(
    package: Package, old: str, new: str, name: str, changed: set[str]
) -> None:
    before = package.digests()
    package.change(old, new, name)
    after = package.digests()
    assert {function for function in before if before[function] != after[function]} == changed


def test_relative_imports_are_followed(package: Package) -> None:
    package.change("from probed.shared import limit", RELATIVE)
    before = package.digests()
    package.change("return 3", "return 4", "shared")
    assert before["first"] != package.digests()["first"]


@pytest.mark.slow
def test_built_in_evaluators_have_separate_digests() -> None:
    digester = SourceDigester()
    functions = [tool.mark.function for tool in builtin_evaluators()["phone"].values()]
    digests = [digester.digest(function) for function in functions]
    assert len(set(digests)) == len(functions)
    assert digests[0] == SourceDigester().digest(functions[0])
