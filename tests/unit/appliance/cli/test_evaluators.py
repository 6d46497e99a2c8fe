"""``mesocosm evaluators`` from its arguments to its exit code."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.evaluators import _read_arguments
from appliance.cli.main import main
from evaluators.decorators import evaluator
from evaluators.schema import describe
from foundation.settings import REPOSITORY, get_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def printed(capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_evaluators_are_listed_by_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluators", "list", "--json"]) == 0
    everywhere = printed(capsys)
    assert main(["evaluators", "list", "--on", "session", "--json"]) == 0
    session = printed(capsys)
    assert len(everywhere) >= 80
    assert {entry["on"] for entry in session} == {"session"}
    assert all(entry in everywhere for entry in session)


@pytest.mark.slow
def test_evaluator_is_shown_with_its_test_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluators", "show", "file_exists", "--json"]) == 0
    shown = printed(capsys)
    assert shown["example"]["check"] == "file_exists"
    assert list(shown["parameters"]["properties"]) == ["path"]
    assert {"kind": "missing", "case": "no file", "expected": "unmet"} in shown["cases"]
    assert main(["evaluators", "show", "file_exists"]) == 0
    out = capsys.readouterr().out
    assert "Test cases, each with its expected verdict:" in out
    assert "hostile: named pipe" in out


def test_evaluators_of_a_suite_are_shown_with_their_test_cases(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    suite = tmp_path / "receipts"
    shutil.copytree(REPOSITORY / "examples/suites/receipts", suite)
    argv = ["evaluators", "show", "receipts_total_is", "--suite", str(suite), "--json"]
    assert main(argv) == 0
    cases = printed(capsys)["cases"]
    assert {"kind": "positive", "case": "the sum", "expected": "met"} in cases
    assert len(cases) == 12
    assert main(["evaluators", "list", "--suite", str(suite), "--kinds", "--json"]) == 0
    counts = {entry["name"]: entry["cases"]["forged"] for entry in printed(capsys)}
    assert counts == {"receipts_total_is": 2, "answer_is_amount": 2}
    (suite / "tests/test_evaluators.py").write_text("import no_such_module\n")
    assert main(argv) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["cases"] == []
    message = " ".join(shown.err.split())
    assert "Cannot read the cases in tests/test_evaluators.py: ModuleNotFoundError:" in message


@pytest.mark.slow
def test_list_marks_evaluators_that_prove_the_state_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["evaluators", "list", "--json"]) == 0
    proves = {entry["name"]: entry["proves_state_only"] for entry in printed(capsys)}
    assert proves["file_exists"]
    assert proves["pictures_equal"], "its sentence is wrapped"
    assert not proves["window_open"]
    assert main(["evaluators", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if " file_exists " in line)
    assert row.rstrip(" │|").endswith("state")
    assert lines[-1] == "state: proves the state, not who caused it."


@pytest.mark.slow
def test_test_cases_are_counted_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluators", "show", "file_exists", "--json"]) == 0
    shown = Counter(case["kind"] for case in printed(capsys)["cases"])
    assert main(["evaluators", "list", "--kinds", "--json"]) == 0
    listed = next(entry for entry in printed(capsys) if entry["name"] == "file_exists")
    assert listed["cases"] == shown
    assert main(["evaluators", "list", "--kinds"]) == 0
    assert "hostile" in capsys.readouterr().out


@pytest.mark.parametrize(("answer", "code", "met"), [("8.0", 0, True), ("9", 1, False)])
def test_evaluator_is_tried_on_an_answer(
    capsys: pytest.CaptureFixture[str], answer: str, code: int, met: bool
) -> None:
    args = ["expected=8", "tolerance=0.5", "--answer", answer, "--json"]
    assert main(["evaluators", "try", "answer_is_number", *args]) == code
    assert printed(capsys)["met"] is met


FILLED = {"value": "x", "name": "x", "tags": "[]"}


@evaluator(on="session")
def takes(session: object, value: str | float | bool | None, name: str, tags: list[str]) -> bool:
    """Return nothing of interest.

    Args:
        session: the session.
        value: text, a number, a switch or nothing.
        name: text.
        tags: texts.
    """
    return False


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("value=12", 12),
        ("value=.5", ".5"),
        ("value=true", True),
        ("value=null", None),
        ('value="12"', "12"),
        ("value=NaN", "NaN"),
        ("value=a b", "a b"),
        ("name=12", "12"),
        ('name="12"', '"12"'),
        ('tags=["1"]', ["1"]),
    ],
)
def test_arguments_have_their_declared_type(word: str, value: object) -> None:
    name = word.partition("=")[0]
    others = [f"{other}={text}" for other, text in FILLED.items() if other != name]
    read = _read_arguments(describe(takes), [word, *others])
    assert (read[name], type(read[name])) == (value, type(value))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["file_exsts", "path=~/a"], "file_exists"),
        (["file_exists", "path"], "ARGUMENT=VALUE"),
        (["file_exists", "pfad=~/a"], "pfad"),
        (["file_line_count", "path=~/a", "count=many"], "many"),
        (["answer_exact", "expected=a", "--answer", "a" * 4001], "4001 characters"),
        (["file_exists", "path=~/a"], "--machine"),
        (["file_exists", "path=~/a", "--machine", "nobody"], "nobody"),
    ],
)
def test_wrong_arguments_are_rejected(
    capsys: pytest.CaptureFixture[str], args: list[str], message: str
) -> None:
    assert main(["evaluators", "try", *args]) != 0
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_page_is_written(tmp_path: Path) -> None:
    assert main(["evaluators", "docs", str(tmp_path / "page.md")]) == 0
    assert "#### file_exists" in (tmp_path / "page.md").read_text(encoding="utf-8")
