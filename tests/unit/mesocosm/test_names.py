"""The names for users exist, are typed as they are, and load nothing else in guests."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mesocosm
from evaluators.bundle import desktop_bundle
from evaluators.source_digest import SourceDigester
from foundation.settings import REPOSITORY
from mesocosm.authoring import CLIENT, IN_GUESTS, MODULES
from tests.test_layers import LAYERS

SOURCE = Path(mesocosm.__file__)
EXAMPLES = sorted(path for path in (REPOSITORY / "examples").rglob("*.py") if path.name != "run.py")
PRODUCT = {name.partition(".")[0] for name in LAYERS} - {"mesocosm"}


@pytest.mark.parametrize("name", [*MODULES, *CLIENT])
def test_name_exists(name: str) -> None:
    assert getattr(mesocosm, name) is not None
    assert name in dir(mesocosm)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = mesocosm.nonsense


def test_client_without_its_packages_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("mesocosm.client")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.delitem(vars(mesocosm), "connect", raising=False)
    with pytest.raises(ImportError, match="pip install httpx"):
        _ = mesocosm.connect


def test_type_checkers_see_the_names_of_the_table() -> None:
    (block,) = (node for node in ast.parse(SOURCE.read_text()).body if isinstance(node, ast.If))
    typed = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {**MODULES, **CLIENT}


def test_guests_need_only_what_the_bundle_has() -> None:
    modules = desktop_bundle().modules
    assert {MODULES[name] for name in IN_GUESTS} <= modules.keys()
    assert "mesocosm" in modules
    program = "import mesocosm, sys; print(*sorted(sys.modules))"
    loaded = subprocess.run(  # noqa: TID251 - what this interpreter loads, nothing else
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); {program}",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert {name for name in loaded if name.partition(".")[0] in {*PRODUCT, "mesocosm"}} == {
        "mesocosm",
        "mesocosm.authoring",
    }


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_examples_import_nothing_else_of_the_product(path: Path) -> None:
    modules = [
        module
        for node in ast.walk(ast.parse(path.read_text()))
        for module in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and node.level == 0
            else []
        )
    ]
    assert [module for module in modules if module.partition(".")[0] in PRODUCT] == []


def test_digests_follow_names_to_the_modules_that_define_them(tmp_path: Path) -> None:
    path = tmp_path / "own_names.py"
    path.write_text("from mesocosm import evaluator, read_text\n")
    found = SourceDigester()._imported("own_names", path)
    assert {"evaluators.decorators", "evaluators.desktop.reading"} <= found
