"""``mesocosm run --matrix`` on machines in memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.experiment_table import scientific
from appliance.cli.main import main
from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.executors.local import LocalExecutor, LocalTrials
from controller.planning import specify_run
from controller.scheduling.execution import execute_run
from controller.specification.agent import CustomSpec
from controller.store.runs import Store
from controller.wiring import make_context, open_suite
from foundation.clock import FakeClock
from foundation.settings import get_settings
from provisioning.fake import FakeFleet
from tests.unit.controller.lab import ignore
from tests.unit.controller.stand_in import completion, stand_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    get_settings.cache_clear()
    yield tmp_path / "state"
    get_settings.cache_clear()


@pytest.fixture
def run(state: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*args: object) -> tuple[int, str, str]:
        code = main(["run", *map(str, args)])
        shown = capsys.readouterr()
        return code, shown.out, " ".join(shown.err.split())

    return call


def write(folder: Path, tiny: Path, rows: str, more: str = "") -> Path:
    path = folder / "matrix.yaml"
    path.write_text(
        f"name: mine\nsuite: {tiny}\ntasks: [write-file]\nfleet: fake\n{more}rows:\n{rows}"
    )
    return path


ROWS = "  - {name: solution, agent: oracle}\n  - {name: nothing, agent: noop}\n"


@pytest.mark.slow
def test_rows_are_played_once_and_changed_ones_again(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, tiny: Path, state: Path
) -> None:
    path = write(tmp_path, tiny, ROWS)
    code, out, err = run("--matrix", path, "--json")
    first: dict[str, Any] = json.loads(out)
    assert code == 0, err
    assert [row["figures"]["SR"] for row in first["rows"]] == [1.0, 0.0]
    assert first["rows"][1]["figures"]["crab"]["FC"] == 1.0
    assert (first["complete"], first["human"]) == (True, None)
    code, out, err = run("--matrix", path, "--json")
    assert "0 trials left" in err
    assert json.loads(out) == first
    assert len(Store(state / "runs").names()) == 2

    changed = ROWS.replace("agent: noop", "agent: noop, feedback: hints")
    code, out, err = run("--matrix", write(tmp_path, tiny, changed), "--json")
    second = json.loads(out)
    assert "nothing: changed since it was played" in err
    assert second["rows"][0]["run"] == first["rows"][0]["run"]
    assert second["rows"][1]["run"] != first["rows"][1]["run"]

    code, out, err = run("--matrix", write(tmp_path, tiny, ROWS), "--new", "--json")
    third = json.loads(out)
    assert (third["experiment"], third["name"]) == ("mine.2", "mine")
    assert {row["run"] for row in third["rows"]}.isdisjoint(
        row["run"] for row in [*first["rows"], *second["rows"]]
    )


@pytest.mark.slow
def test_table_fits_80_columns_and_has_people(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, tiny: Path, state: Path
) -> None:
    suite = open_suite(str(tiny))
    spec = specify_run(suite, CustomSpec(name="human"), tasks=("write-file",), fleet="fake")
    clock = FakeClock()
    folder = Store(state / "runs").create(spec)
    context = make_context(spec, suite, FakeFleet(clock), clock=clock, take=ignore)
    execute_run(folder, LocalExecutor(LocalTrials(suite, context, AgentDriver(NoopAgent))))
    code, out, err = run("--matrix", write(tmp_path, tiny, ROWS))
    assert code == 0, err
    assert max(map(len, out.splitlines())) <= 80
    assert "human" in out
    _, out, _ = run("--matrix", write(tmp_path, tiny, ROWS), "--json")
    human = json.loads(out)["human"]
    assert (human["ended"], human["figures"]["SR"]) == (1, 0.0)
    _, out, _ = run("--matrix", write(tmp_path, tiny, ROWS, "human: false\n"), "--json")
    assert json.loads(out)["human"] is None


@pytest.mark.parametrize(("ratio", "text"), [(None, "-"), (0.0, "0"), (0.00012, "1.2e-02")])
def test_small_ratios_are_scientific_unless_nothing_was_met_or_is_known(
    ratio: float | None, text: str
) -> None:
    assert scientific(ratio) == text


def test_a_row_that_cannot_be_played_names_line_and_nearest(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, tiny: Path, state: Path
) -> None:
    path = write(tmp_path, tiny, "  - {name: a, agent: orcale}\n  - {name: b, agent: nop}\n")
    code, _, err = run("--matrix", path)
    assert code == 2
    for part in ("2 errors", "matrix.yaml:6: a:", "'oracle'", "matrix.yaml:7: b:", "'noop'"):
        assert part in err
    assert not (state / "experiments").exists()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("[write-file]", "[wirte-file]", ["matrix.yaml:3: There is no task", "'write-file'"]),
        ("tasks:", "tags: [none]\ntasks:", ["matrix.yaml:4:", "has tags"]),
        ("suite: ", "suite: smok # ", ["matrix.yaml:2: There is no suite", "'smoke'"]),
    ],
)
def test_suite_and_tasks_are_checked_once(  # noqa: PLR0917 - fixtures and a case
    run: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    tiny: Path,
    before: str,
    after: str,
    said: list[str],
) -> None:
    path = write(tmp_path, tiny, ROWS)
    path.write_text(path.read_text().replace(before, after))
    code, _, err = run("--matrix", path)
    assert code == 2
    assert [part for part in said if part not in err] == []


def test_a_row_whose_model_calls_another_tool_is_named(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, tiny: Path
) -> None:
    with stand_in((200, completion(("click", "{}")))) as server:
        row = f'{{name: other, agent: model, model: m, base_url: "{server.base_url}"}}'
        code, _, err = run("--matrix", write(tmp_path, tiny, f"{ROWS}  - {row}\n"))
    assert code == 3
    assert "Row other: The model 'm' was asked to call report_colour" in err


def test_a_file_that_is_missing_has_a_cure(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, tiny: Path
) -> None:
    path = write(tmp_path, tiny, ROWS)
    code, _, err = run("--matrix", tmp_path / "matrx.yaml")
    assert code == 2
    assert f"Did you mean {path}?" in err
    path.unlink()
    assert "a relative one begins" in run("--matrix", path)[2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--repeats", "2"], "these belong in the file: repeats"),
        (["smoke"], "these belong in the file: suite"),
        (["--agent", "noop", "--seed", "3"], "these belong in the file: agent, seed"),
    ],
)
def test_options_of_the_file_are_refused_beside_it(
    run: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    tiny: Path,
    options: list[str],
    said: str,
) -> None:
    code, _, err = run("--matrix", write(tmp_path, tiny, ROWS), *options)
    assert code == 2
    assert said in err


def test_without_suite_and_matrix_the_suite_is_missing(
    run: Callable[..., tuple[int, str, str]],
) -> None:
    code, _, err = run("--agent", "noop")
    assert code == 2
    assert "The suite is missing" in err


@pytest.mark.slow
def test_dry_run_starts_nothing_and_machines_must_stay_the_same(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, tiny: Path, state: Path
) -> None:
    path = write(tmp_path, tiny, ROWS)
    code, out, _ = run("--matrix", path, "--dry-run", "--json")
    assert [row["left"] for row in json.loads(out)["rows"]] == [1, 1]
    assert not (state / "runs").exists()
    run("--matrix", path)
    code, out, _ = run("--matrix", path, "--dry-run", "--json")
    assert [row["left"] for row in json.loads(out)["rows"]] == [0, 0]
    path.write_text(path.read_text().replace("fleet: fake", "fleet: real"))
    code, _, err = run("--matrix", path)
    assert code == 2
    assert "began on fake machines" in err


@pytest.mark.slow
def test_a_pruned_run_is_played_again(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, tiny: Path, state: Path
) -> None:
    path = write(tmp_path, tiny, ROWS)
    _, out, _ = run("--matrix", path, "--json")
    gone = json.loads(out)["rows"][0]["run"]
    for file in sorted((state / "runs" / gone).rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    (state / "runs" / gone).rmdir()
    code, out, err = run("--matrix", path, "--json")
    assert code == 0, err
    assert "1 trial left" in err
    assert json.loads(out)["rows"][0]["run"] != gone
