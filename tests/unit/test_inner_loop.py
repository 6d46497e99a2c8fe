"""Choice of the tests of `make test-fast` by what has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.process import run
from tests.inner_loop import __main__ as inner_loop
from tests.inner_loop.__main__ import REPOSITORY, describe
from tests.inner_loop.choice import choose, select
from tests.inner_loop.graph import read_graph
from tests.inner_loop.times import forecast

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "pack/__init__.py": "",
    "pack/leaf.py": "",
    "pack/typed.py": "",
    "pack/late.py": "",
    "pack/later.py": "def f():\n    import pack.late\n",
    "pack/latest.py": "def f():\n    import pack.later\n",
    "pack/table.py": "ROWS = ['pack.late:f']\n",
    "pack/top.py": (
        "from typing import TYPE_CHECKING\nfrom pack import leaf\n"
        "if TYPE_CHECKING:\n    from pack import typed\n"
    ),
    "pack/web/__init__.py": "",
    "pack/web/pages.py": "",
    "pack/web/templates/a.html": "",
    "pack/alone/program.py": "",
    "docs/page.md": "",
    "docs/other.md": "",
    "docs/shot.png": "",
    "tests/test_shape.py": "",
    "tests/conftest.py": "def f():\n    import pack.web.pages\n",
    "tests/unit/conftest.py": "import tests.helper\n",
    "tests/helper.py": "",
    "tests/unused.py": "",
    "tests/data/golden.txt": "",
    "tests/unit/test_leaf.py": "from pack.top import leaf\n",
    "tests/unit/test_typed.py": "import pack.typed\n",
    "tests/unit/test_late.py": "from pack.latest import f\n",
    "tests/unit/test_later.py": "from pack.later import f\n",
    "tests/unit/test_table.py": "import pack.table\n",
    "tests/unit/web/test_pages.py": "from pack.web import pages\nPAGE = 'page.md'\n",
    "tests/unit/web/test_golden.py": "PATH = ROOT / 'data/golden.txt'\n",
    "tests/unit/pack/alone/test_image.py": "",
    "tests/slow/test_all.py": "import pack.leaf\n",
}
TESTS = {name for name in FILES if name.startswith("tests/unit/") and "/test_" in name}
RULES = "tests/test_shape.py"
BASE = "b" * 40


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def chosen(root: Path, *changed: str) -> set[str]:
    """Return the chosen tests of units; the rules of the repository are always chosen."""
    choice = select(read_graph(root, {*FILES, *changed}), root, changed, BASE)
    assert RULES in choice.tests
    assert {*choice.tests, *choice.left} == {*TESTS, RULES}
    assert not {*choice.tests} & {*choice.left}
    return {*choice.tests} - {RULES}


def of(*names: str) -> set[str]:
    return {f"tests/unit/{name}.py" for name in names}


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("pack/leaf.py", of("test_leaf")),
        ("pack/top.py", of("test_leaf")),
        ("pack/typed.py", of("test_typed")),
        ("pack/late.py", of("test_late", "test_later", "test_table")),
        ("tests/unit/test_leaf.py", of("test_leaf")),
        ("tests/unused.py", set()),
        ("tests/helper.py", TESTS),
        ("tests/conftest.py", TESTS),
        ("pack/__init__.py", TESTS - of("web/test_golden", "pack/alone/test_image")),
        ("pack/web/pages.py", of("web/test_pages")),
        ("pack/alone/program.py", of("pack/alone/test_image")),
        ("pack/web/templates/a.html", of("web/test_pages")),
        ("tests/data/golden.txt", of("web/test_golden")),
        ("docs/page.md", of("web/test_pages")),
        ("docs/other.md", set()),
        ("docs/shot.png", set()),
    ],
)
def test_tests_that_depend_on_a_file_are_chosen(
    repository: Path, changed: str, tests: set[str]
) -> None:
    assert chosen(repository, changed) == tests


def test_all_tests_are_run_if_a_file_has_no_known_tests(repository: Path) -> None:
    (repository / "Makefile").touch()
    choice = select(
        read_graph(repository, {*FILES, "Makefile"}),
        repository,
        ["Makefile", "docs/other.md"],
        BASE,
    )
    assert {*choice.tests} == {*TESTS, RULES}
    assert "no test is known to depend on Makefile" in describe(choice)[-1]


def test_tests_of_a_removed_module_are_chosen(repository: Path) -> None:
    (repository / "pack/leaf.py").unlink()
    assert chosen(repository, "pack/leaf.py") == of("test_leaf")
    (repository / "tests/unit/test_typed.py").unlink()
    choice = select(read_graph(repository, FILES), repository, ["tests/unit/test_typed.py"], BASE)
    assert choice.tests == (RULES,)


def git(root: Path, *args: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    run(["git", *identity, *args], cwd=root).require()


@pytest.mark.slow
def test_branch_is_compared_with_its_merge_base(repository: Path) -> None:
    git(repository, "init", "-q", "-b", "work")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "a")
    choice = choose(repository)
    assert (choice.base, {*choice.tests}) == ("", {*TESTS, RULES})
    assert "no branch main" in describe(choice)[0]
    git(repository, "branch", "main")
    choice = choose(repository)
    assert (choice.tests, len(choice.base)) == ((), 40)
    assert "Nothing has changed" in describe(choice)[0]
    (repository / "pack/leaf.py").write_text("A = 1\n")
    git(repository, "commit", "-qam", "b")
    (repository / "pack/typed.py").write_text("A = 1\n")
    (repository / "tests/unit/test_new.py").touch()
    choice = choose(repository)
    assert choice.changed == ("pack/leaf.py", "pack/typed.py", "tests/unit/test_new.py")
    assert {*choice.tests} == of("test_leaf", "test_typed", "test_new") | {RULES}
    assert f"4 of {len(TESTS) + 2} test files" in describe(choice)[-1]
    assert "are not run" in describe(choice)[-1]


@pytest.mark.slow
def test_of_this_repository_the_tests_of_a_module_are_chosen() -> None:
    names = run(["git", "ls-files", "-z"], cwd=REPOSITORY).require().stdout.decode().split("\0")
    graph = read_graph(REPOSITORY, {*names} - {""})
    leaf = select(graph, REPOSITORY, ["controller/models/families/showui.py"], BASE)
    assert "tests/unit/controller/models/families/test_families.py" in leaf.tests
    assert "tests/test_layers.py" in leaf.tests
    assert "tests/unit/provisioning/fleet/test_resources.py" in leaf.left
    command = select(graph, REPOSITORY, ["appliance/cli/trial.py"], BASE)
    assert "tests/unit/appliance/cli/test_trial_show.py" in command.tests
    assert len(command.left) > len(command.tests)
    root = select(graph, REPOSITORY, ["foundation/errors.py"], BASE)
    assert root.left == ()


def test_duration_is_forecast_from_earlier_runs() -> None:
    known = {"tests/unit/a/test_1.py": 8.0, "tests/unit/b/test_2.py": 30.0, "tests/test_3.py": 2.0}
    assert "is not known" in forecast(["tests/unit"], {}, 0.0, 2)
    everything = "all fast tests 23 s, by earlier runs here"
    assert forecast([*known], known, 1.0, 2) == f"this takes about 23 s, {everything}"
    files = ["tests/unit/a/test_1.py", "tests/unit/a/test_new.py"]
    assert forecast(files, known, 1.0, 2) == (
        f"this takes about 6 s, {everything}; 1 files were not run before"
    )
    assert forecast(["tests/unit"], known, 1.0, 2).startswith("this takes about 21 s")


@pytest.mark.slow
def test_command_says_what_is_not_run(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(inner_loop, "REPOSITORY", repository)
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "a")
    assert inner_loop.main([]) == 0  # pytest is not started
    assert "Nothing has changed" in capsys.readouterr().err
    (repository / "pack/leaf.py").write_text("A = 1\n")
    assert inner_loop.main(["--list"]) == 0
    shown = capsys.readouterr()
    assert {*shown.out.split()} == of("test_leaf") | {RULES}
    assert f"the fast tests of the other {len(TESTS) - 1} are not run (ALL=1" in shown.err
    assert inner_loop.main(["--list", "--all"]) == 0
    shown = capsys.readouterr()
    assert (shown.out.split(), shown.err) == (["tests/unit", RULES], "")
