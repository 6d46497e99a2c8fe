from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from foundation.errors import SettingsError
from foundation.extensions import entries_of, source_of

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
TABLE = [1, "one", 2]
NUMBER = 3
def table():
    return (4, "four")
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of an importable module outside this project."""
    name = f"outside_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_each_table_takes_the_entries_of_its_type(module: str) -> None:
    names = f"{module}:TABLE, {module}:table"
    assert entries_of(names, int) == (1, 2, 4)
    assert entries_of(names, str) == ("one", "four")
    assert entries_of("", int) == ()


def test_wrong_extensions_are_refused_with_the_reason(module: str) -> None:
    for name, reason in (
        (module, "not of the form module:NAME"),
        (f"{module}:TABEL", "has no attribute 'TABEL'"),
        (f"{module}:NUMBER", "It is a int, not a list or tuple"),
        ("no_such_module:TABLE", "No module named 'no_such_module'"),
    ):
        with pytest.raises(SettingsError) as caught:
            entries_of(name, int)
        assert reason in caught.value.details


def test_the_source_is_the_top_level_file_or_package(tmp_path: Path, module: str) -> None:
    assert source_of(f"{module}:TABLE") == tmp_path / f"{module}.py"
    package = tmp_path / "outside_package"
    (package / "deep").mkdir(parents=True)
    for folder in (package, package / "deep"):
        (folder / "__init__.py").touch()
    assert source_of("outside_package.deep:TABLE") == package
    assert "outside_package" not in sys.modules
    with pytest.raises(SettingsError):
        source_of("no_such_module:TABLE")
