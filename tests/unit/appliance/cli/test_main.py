from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer

from appliance.cli import main as cli
from controller import planning
from foundation.errors import MesocosmError, RequirementError
from foundation.logging import configure_logging
from foundation.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TINY = Path(__file__).resolve().parents[3] / "suites/tiny"
ANSWER = ["run", str(TINY), "--fleet", "fake", "--task", "answer", "--agent"]


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    get_settings.cache_clear()
    yield tmp_path
    get_settings.cache_clear()


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Replace the command line by one command, ``go``."""

    def install(function: Callable[[], None]) -> None:
        app = typer.Typer(pretty_exceptions_enable=False)
        app.callback()(lambda: None)
        app.command("go")(function)
        monkeypatch.setattr(cli, "build_app", lambda: app)

    return install


def test_error_is_printed_in_three_parts(
    command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def go() -> None:
        raise RequirementError("No [bold]adb[/bold].", "It is missing.", "Install it.")

    command(go)
    assert cli.main(["go"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert re.findall(r"\S.*\S", err) == [
        "error: No [bold]adb[/bold].",
        "It is missing.",
        "→ Install it.",
    ]


def test_traceback_is_printed_with_debug_only(
    command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def go() -> None:
        raise MesocosmError("Nope.")

    command(go)
    assert cli.main(["go"]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert cli.main(["go", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_missing_rights_are_reported_in_a_sentence(
    command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def go() -> None:
        raise PermissionError(13, "Permission denied", "/var/lib/mesocosm/runs")

    command(go)
    assert cli.main(["go"]) == 3
    err = capsys.readouterr().err
    assert "This user may not access /var/lib/mesocosm/runs." in err
    assert "Internal error" not in err


def test_internal_error_prints_no_traceback(
    command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def go() -> None:
        raise ZeroDivisionError("by zero")

    command(go)
    assert cli.main(["go"]) == 1
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "ZeroDivisionError" in err
    assert "--debug" in err


def test_ctrl_c_exits_with_130_and_a_message(
    command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def go() -> None:
        raise KeyboardInterrupt

    command(go)
    assert cli.main(["go"]) == 130
    assert capsys.readouterr() == ("", "Interrupted.\n")


@pytest.mark.parametrize(
    "argv", [["run"], ["fly"], ["run", str(TINY), "--agent", "noop", "--repeats", "0"]]
)
def test_wrong_usage_exits_with_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(argv) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["run", "no-such-suite", "--agent", "noop"], "no suite called 'no-such-suite'"),
        (["run", str(TINY), "--agent", "orcale"], "Did you mean 'oracle'?"),
        ([*ANSWER[:4], "--agent", "noop", "--task", "anser"], "Did you mean 'answer'?"),
        (["results", "latest"], "no run called 'latest'"),
        (["run", str(TINY), "--agent", "noop", "--fleet", "fakes"], "Did you mean 'fake'?"),
        (["run", str(TINY), "--agent", "script"], "--script"),
    ],
)
def test_unknown_names_exit_with_2_and_create_nothing(
    argv: list[str], message: str, state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(argv) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""
    assert not list(state_dir.iterdir())


@pytest.mark.slow
def test_run_prints_json_only_and_results_shows_it_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main([*ANSWER, "oracle", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["verdicts"] == {"PASS": 1, "FAIL": 0, "INCONCLUSIVE": 0}
    assert cli.main(["results", first["run"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert cli.main(["results", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert (row["run"], row["state"], row["passed"]) == (first["run"], "finished", 1)


@pytest.mark.slow
def test_results_are_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*ANSWER, "noop", "--json"]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    assert cli.main(["results", "export", "latest:tiny,noop"]) == 0
    assert json.loads(capsys.readouterr().out)["run"] == run
    table = tmp_path / "steps.csv"
    assert cli.main(["results", "export", run, "--rows", "steps", "-o", str(table)]) == 0
    assert capsys.readouterr().out == ""
    assert [line.split(",")[0] for line in table.read_text().splitlines()] == ["run", run, run]
    assert cli.main(["results", "export", run, "--rows", "events", "--format", "csv"]) == 2
    assert cli.main(["results", "--help"]) == 0
    assert "export" in capsys.readouterr().out


@pytest.mark.slow
def test_metrics_are_added_to_results(capsys: pytest.CaptureFixture[str]) -> None:
    args = ["run", str(TINY), "--fleet", "fake", "--json", "--agent"]
    assert cli.main([*args, "oracle", "-k", "2"]) == 0
    oracle = json.loads(capsys.readouterr().out)
    assert cli.main([*args, "noop"]) == 0
    noop = json.loads(capsys.readouterr().out)
    asked = ["results", oracle["run"], "--metrics", "all", "--suite", str(TINY)]
    assert cli.main([*asked, "--compare", noop["run"], "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    measured, compared = report.pop("measured"), report.pop("comparison")
    assert report == oracle
    tasks = len({trial["task"] for trial in oracle["trials"]})
    rates = measured["rates"]
    assert (rates["SR"], rates["SR_bootstrap_95"], rates["tasks"]) == (1.0, [1.0, 1.0], tasks)
    assert [row["pass^k"] for row in measured["repeats"]] == [1.0, 1.0]
    assert measured["coverage"]["coverage"] == 1.0
    assert measured["consistency"]["switching"] == {"mean": None, "trials": 0}  # no apps named
    assert set(measured["complexity"]) == {trial["task"] for trial in oracle["trials"]}
    assert len(measured["capabilities"]) == 10
    assert (compared["SR"]["difference"], compared["SR"]["worse"]) == (-1.0, tasks)
    assert cli.main(asked) == 0
    shown = capsys.readouterr().out
    assert "SR_bootstrap_95: 1 to 1" in shown
    assert "pass^k: 1" in shown


@pytest.mark.slow
def test_graph_metrics_need_the_suite_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*ANSWER, "oracle", "--json"]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    assert cli.main(["results", run, "--metrics", "rates,repeats", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["measured"]) == ["rates", "repeats"]
    for args, message in (
        (["--metrics", "coverage", "--suite", "smoke"], "has changed since"),
        (["--metrics", "coverages"], "Did you mean 'coverage'?"),
    ):
        assert cli.main(["results", run, *args]) == 2
        assert message in capsys.readouterr().err
    assert cli.main(["results", "--metrics", "all"]) == 2


def test_run_is_recorded_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*ANSWER, "oracle", "--record", "--record-rate", "10", "--json"]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    videos = list((get_settings().runs_dir / run).rglob("screen-*.mp4"))
    assert [video.name for video in videos] == ["screen-phone.mp4"]
    assert cli.main([*ANSWER, "oracle", "--record", "--record-rate", "99"]) == 2
    assert "99 Hz" in capsys.readouterr().err


@pytest.mark.slow
def test_failed_trial_is_a_completed_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*ANSWER, "noop"]) == 0
    out, err = capsys.readouterr()
    assert "false_completion" in out
    assert "FAIL" in err


def test_inconclusive_trial_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    for path in TINY.iterdir():
        (suite / path.name).write_text(path.read_text())
    task = suite / "two-apps.yaml"
    step = "setup:\n  - {on: phone, do: open_app, with: {name: Settings}}\n"
    task.write_text(task.read_text().replace("setup:\n", step))
    argv = ["run", str(suite), "--fleet", "fake", "--task", "two-apps", "--agent", "oracle"]
    assert cli.main(argv) == 1
    assert "met before the agent acts" in capsys.readouterr().out


def test_measures_are_recorded(state_dir: Path) -> None:
    assert cli.main([*ANSWER, "oracle"]) == 0
    (log,) = state_dir.rglob("measures.jsonl")
    names = {json.loads(line)["m"] for line in log.read_text().splitlines()}
    assert {"verdicts_total", "steps_total", "step_seconds", "trials_ended_total"} <= names


@pytest.mark.slow
def test_suite_show_and_validate(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["suite", "show", str(TINY), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [task["id"] for task in shown["tasks"]][-1] == "answer"
    argv = ["suite", "validate", str(TINY), "--fleet", "fake", "--task", "answer", "--json"]
    assert cli.main(argv) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is True
    (noop,) = [row for row in report["tasks"][0]["attempts"] if row["kind"] == "noop"]
    assert (noop["verdict"], noop["nodes_met"]) == ("FAIL", 0)


def test_help_lists_commands_and_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("run", "results", "suite"))
    assert cli.main(["--version"]) == 0
    assert re.fullmatch(r"mesocosm \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_verbose_logs_host_commands_with_the_trial(
    capsys: pytest.CaptureFixture[str],
) -> None:
    planning.code_version.cache_clear()
    try:
        assert cli.main([*ANSWER, "oracle", "--verbose"]) == 0
        err = capsys.readouterr().err
    finally:
        configure_logging()
    assert re.search(r"DEBUG foundation\.process: \$ git .* rev-parse HEAD", err)
    assert re.search(
        r"DEBUG controller\.scheduling\.scheduler \[run=\S+ trial=answer\.0\]: TrialStarted", err
    )
    assert cli.main([*ANSWER, "oracle"]) == 0
    assert "DEBUG" not in capsys.readouterr().err


@pytest.mark.slow
def test_several_trials_run_in_parallel(capsys: pytest.CaptureFixture[str]) -> None:
    args = ["run", str(TINY), "--fleet", "fake", "--agent", "oracle", "--json"]
    assert cli.main([*args, "--parallel", "3"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verdicts"]["PASS"] == len(report["trials"]) == 4
    assert cli.main([*args, "--parallel", "0"]) == 2


@pytest.mark.slow
def test_crash_of_an_isolated_agent_costs_one_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "frail.py").write_text(
        "import os\n"
        "class Frail:\n"
        "    def __init__(self, context):\n"
        "        self.instruction = context.instruction\n"
        "    def act(self, observation):\n"
        "        if 'Contacts' in self.instruction:\n"
        "            os.abort()\n"
        "        return {'do': 'complete'}\n"
    )
    monkeypatch.chdir(tmp_path)
    args = ["run", str(TINY), "--fleet", "fake", "--agent", "frail.py:Frail", "--isolate"]
    assert cli.main([*args, "--task", "answer", "--task", "two-apps", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {trial["task"]: trial["reason"] for trial in report["trials"]} == {
        "answer": "false_completion",
        "two-apps": "agent_error",
    }


@pytest.mark.slow
def test_dry_run_shows_the_plan_and_starts_nothing(
    state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["run", str(TINY), "--fleet", "fake", "--agent", "noop"]
    chosen = ["--task", "*e", "--task", "answer", "-k", "2", "--max-steps", "1"]
    assert cli.main([*args, *chosen, "--dry-run"]) == 0
    assert "6 trials of 3 tasks: dark-style, write-file, answer" in capsys.readouterr().out
    assert not list(state_dir.iterdir())
    assert cli.main([*args, *chosen, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {(trial["steps"], trial["reason"]) for trial in report["trials"]} == {(1, "step_limit")}
    assert {trial["detail"] for trial in report["trials"]} == {"1 step was executed."}
    assert cli.main([*args, *chosen, "--dry-run", "--json"]) == 0
    estimate = json.loads(capsys.readouterr().out)
    assert (estimate["trials"], estimate["trials_known"]) == (6, 6)
    assert estimate["runs"] == [report["run"]]
    assert [finding["name"] for finding in estimate["preflight"]] == ["suite", "disk"]
    nowhere = ["--agent", "model", "--model", "m", "--base-url", "http://127.0.0.1:1/v1"]
    capsys.readouterr()
    assert cli.main([*args, *nowhere, "--dry-run", "--json"]) == 0
    refused = json.loads(capsys.readouterr().out)["preflight"][-1]
    assert (refused["name"], refused["ok"]) == ("model", False)
    assert cli.main([*args, *nowhere]) == 3
    assert "No server answers" in capsys.readouterr().err
    assert cli.main([*args, "--tag", "hard"]) == 2
    assert cli.main([*args, "--model-extra", "[1]"]) == 2


@pytest.mark.slow
def test_spent_budget_ends_a_run_and_a_larger_one_continues_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main([*ANSWER, "oracle", "-k", "3", "--budget-seconds", "0.001", "--json"]) == 1
    out, err = capsys.readouterr()
    assert "2 were not started" in err
    assert "--budget-tokens N" in err
    report = json.loads(out)
    assert (report["ended"], len(report["unfinished"])) == ("budget_spent", 2)
    assert report["budget"] == {"tokens": None, "usd": None, "seconds": 0.001}
    assert cli.main(["results", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert (row["state"], row["fleet"]) == ("budget_spent", "fake")
    assert report["fleet"] == "fake"
    args = ["resume", "latest", "--suite", str(TINY), "--json"]  # on the fleet of the run
    assert cli.main([*args, "--fleet", "real"]) == 2
    assert "began on fake machines" in capsys.readouterr().err
    assert cli.main([*args, "--budget-seconds", "9000"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["ended"], report["verdicts"]["PASS"]) == ("complete", 3)


@pytest.mark.slow
def test_comparison_is_printed_and_strict_mode_rejects_differences(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = []
    for args in (["oracle"], ["noop", "--seed", "3"]):
        assert cli.main([*ANSWER, *args, "--json"]) == 0
        names.append(json.loads(capsys.readouterr().out)["run"])
    assert cli.main(["compare", *names]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"agent\.kind .* oracle .* noop", shown)
    assert "tasks compared: answer" in shown
    assert "SR -1.000" in shown
    target = get_settings().runs_dir / "compared.html"
    assert cli.main(["compare", *names, "--format", "html", "-o", str(target)]) == 0
    assert "<svg" in target.read_text()
    assert cli.main(["compare", *names, "-o", str(target)]) == 2
    capsys.readouterr()
    assert cli.main(["compare", *names, "--json", "--suite", str(TINY)]) == 0
    comparison = json.loads(capsys.readouterr().out)
    assert comparison["lines"][0]["difference"] == comparison["SR"]["difference"] == -1.0
    assert comparison["notes"] == []
    spec = get_settings().runs_dir / names[1] / "run.json"
    spec.write_text(spec.read_text().replace('"images": {}', '"images": {"phone": "0"}'))
    assert cli.main(["compare", *names]) == 0
    assert "warning: image recipe of phones: unknown, 0" in capsys.readouterr().out
    assert cli.main(["compare", *names, "--strict"]) == 2
    assert "not run under the same conditions" in capsys.readouterr().err
