from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from appliance.base.clock import FakeClock
from appliance.base.errors import UnknownNameError, UsageError
from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import Oracle, OracleDriver
from controller.episode.result import Reason
from controller.executors.local import run_suite
from controller.store.event_log import read_events
from controller.store.report import read_report
from controller.validate import Validator
from controller.wiring import (
    AgentOptions,
    Plan,
    create_run,
    make_context,
    make_driver,
    open_suite,
    plan_of,
)
from evaluators.graph.outcome import Verdict
from evaluators.graph.state import NodeState
from provisioning.fake import FakeFleet

NOOP = AgentDriver(NoopAgent)

if TYPE_CHECKING:
    from pathlib import Path

    from controller.episode.episode import Episode
    from controller.episode.trial import Driver
    from controller.observation.observer import Observation
    from controller.store.runs import RunFolder


def ignore(name: str, value: float = 1.0, **labels: str) -> None:
    del name, value, labels


class Lab:
    """Runs the tiny suite on machines in memory and a fake clock."""

    def __init__(self, suite: Path, folder: Path) -> None:
        self.suite = open_suite(str(suite))
        self.folder = folder
        self.clock = FakeClock()
        self.fleet = FakeFleet(self.clock)

    def begin(self, driver: Driver, *tasks: str, repeats: int = 1) -> RunFolder:
        self.driver = driver
        plan = Plan(self.suite, "test", driver, tasks, repeats)
        self.context = make_context(plan, self.fleet, clock=self.clock, take=ignore)
        return create_run(plan, self.folder, clock=self.clock)

    def go(self, run: RunFolder) -> None:
        run_suite(self.suite, run, self.context, self.driver)


@pytest.fixture
def lab(tiny: Path, tmp_path: Path) -> Lab:
    return Lab(tiny, tmp_path)


def test_every_task_is_tried_as_often_as_asked(lab: Lab) -> None:
    run = lab.begin(OracleDriver(), repeats=3)
    lab.go(run)
    report = read_report(run)
    assert report.verdicts == {"PASS": 12, "FAIL": 0, "INCONCLUSIVE": 0}
    assert len({(trial.task, trial.repeat) for trial in report.trials}) == 12
    assert not report.unfinished


def test_one_task_can_be_chosen(lab: Lab) -> None:
    run = lab.begin(NOOP, "answer")
    lab.go(run)
    assert [(trial.task, trial.nodes_met) for trial in run.results()] == [("answer", 0)]


def test_an_unknown_task_is_refused_before_anything_is_made(lab: Lab) -> None:
    with pytest.raises(UnknownNameError, match="'answer'"):
        lab.begin(NOOP, "anser")
    assert not list(lab.folder.iterdir())


def test_ctrl_c_ends_the_run_and_the_rest_stays_unfinished(lab: Lab) -> None:
    class Interrupted:
        trials = 0

        def drive(self, episode: Episode, observation: Observation) -> None:
            self.trials += 1
            if self.trials == 2:
                raise KeyboardInterrupt
            OracleDriver().drive(episode, observation)

    run = lab.begin(Interrupted())
    with pytest.raises(KeyboardInterrupt):
        lab.go(run)
    report = read_report(run)
    assert [trial.reason for trial in report.trials] == [Reason.SUCCESS, Reason.CANCELLED]
    assert [row.task for row in report.unfinished] == ["two-apps", "answer"]
    assert lab.fleet.leased == 0


def test_a_run_goes_on_with_the_trials_that_were_not_begun(lab: Lab) -> None:
    run = lab.begin(OracleDriver())
    with run.open_trial("dark-style", 0, lab.clock) as log:
        log.append("start")
    lab.go(run)
    assert [trial.task for trial in run.results()] == ["write-file", "two-apps", "answer"]
    assert run.unfinished() == [("dark-style", 0, 0)]


class Killed(BaseException):
    """What a test throws where a process would be gone."""


class Victim:
    """Does what the oracle does, until its process is killed in the third step."""

    def drive(self, episode: Episode, observation: Observation) -> None:
        context = episode.oracle_context()
        oracle = Oracle(context, context.task.oracle)
        while observation.step < 2:
            observation = episode.step(oracle.act(observation)).observation
        raise Killed


def killed(lab: Lab) -> RunFolder:
    run = lab.begin(Victim(), "two-apps", "answer")
    with pytest.raises(Killed):
        lab.go(run)
    return run


def test_the_log_of_a_killed_trial_tells_how_far_its_graph_was(lab: Lab) -> None:
    run = killed(lab)
    first, second = read_report(run, lab.suite).unfinished
    assert (first.task, first.steps, first.nodes_met) == ("two-apps", 2, 1)
    (row,) = first.unmet
    assert (row.node, row.state) == ("contacts", NodeState.ACTIVE)
    assert row.why.startswith("Not yet satisfied: an application is in front")
    assert (second.steps, second.nodes_met) == (0, 0)
    assert read_report(run).unfinished[0].nodes_met is None
    other = replace(lab.suite, digest="0" * 64)
    assert read_report(run, other).unfinished[0].nodes_met is None


def test_a_killed_run_is_gone_on_with_on_fresh_machines(lab: Lab) -> None:
    run = killed(lab)
    before = run.events("two-apps", 0)
    lab.driver = OracleDriver()
    lab.go(run)
    assert [row.task for row in read_report(run).unfinished] == ["two-apps"]
    results = run_suite(lab.suite, run, lab.context, lab.driver, again=True)
    assert [(each.task, each.verdict, each.steps) for each in results] == [
        ("two-apps", Verdict.PASS, 3)
    ]
    assert not read_report(run).unfinished
    lost = run.path / "trials" / "two-apps.0.lost1" / "events.jsonl"
    assert list(read_events(lost)) == before
    assert run_suite(lab.suite, run, lab.context, lab.driver, again=True) == []


def test_a_plan_is_read_back_from_its_run_and_only_for_the_suite_as_it_was(lab: Lab) -> None:
    made = Plan(
        lab.suite,
        "oracle",
        OracleDriver(),
        ("answer",),
        2,
        7,
        {"model": "m"},
        with_trees=True,
        video_hz=2.5,
    )
    spec = create_run(made, lab.folder, clock=lab.clock).spec
    assert plan_of(spec, lab.suite) == made
    with pytest.raises(UsageError, match="not what it was"):
        plan_of(replace(spec, suite_digest="0" * 64), lab.suite)


def test_results_say_why_nodes_are_not_met_and_give_nothing_away(lab: Lab) -> None:
    run = lab.begin(NOOP)
    lab.go(run)
    why = {(trial.task, row.node): row.why for trial in run.results() for row in trial.unmet}
    assert set(why) == {
        ("dark-style", "tasks-opened"),
        ("dark-style", "dark"),
        ("write-file", "written"),
        ("two-apps", "settings"),
        ("two-apps", "contacts"),
        ("answer", "answered"),
    }
    assert why["two-apps", "contacts"].startswith("Counts only after settings. Then: ")
    for secret in ("prefer-dark", "hello", "note.txt", "com.android"):
        assert not any(secret in words for words in why.values())


def test_trials_do_not_see_what_earlier_ones_did(lab: Lab) -> None:
    lab.go(lab.begin(OracleDriver(), "dark-style"))
    run = lab.begin(NOOP, "dark-style")
    lab.go(run)
    (trial,) = run.results()
    assert (trial.verdict, trial.nodes_met) == (Verdict.FAIL, 0)


def test_the_tiny_suite_is_sound(lab: Lab) -> None:
    rows = Validator(lab.suite, lab.fleet, lab.folder, lab.clock, ignore).run(repeats=2)
    assert [row.task for row in rows] == [task.id for task in lab.suite.tasks]
    assert [row.faults for row in rows] == [()] * 4
    assert {len(row.foreign) for row in rows} == {3}
    assert rows[0].to_dict()["oracle"] == ["PASS", "PASS"]


def test_an_unsound_task_is_found_out(lab: Lab, tmp_path: Path, tiny: Path) -> None:
    import shutil

    copy = tmp_path / "suite"
    shutil.copytree(tiny, copy)
    answer = copy / "answer.yaml"
    answer.write_text(answer.read_text().replace('answer: "0"', 'answer: "1"'))
    apps = copy / "two-apps.yaml"
    apps.write_text(
        apps.read_text().replace(
            "setup:\n", "setup:\n  - {on: phone, do: open_app, with: {name: Settings}}\n"
        )
    )
    lab.suite = open_suite(str(copy))
    runs = tmp_path / "runs"
    rows = {
        row.task: row
        for row in Validator(lab.suite, lab.fleet, runs, lab.clock, ignore).run(
            ("answer", "two-apps")
        )
    }
    assert any("the oracle ended with FAIL" in fault for fault in rows["answer"].faults)
    assert any("doing nothing" in fault for fault in rows["two-apps"].faults)
    assert rows["answer"].to_dict()["ok"] is False


def test_unknown_agents_are_named_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="'oracle'"):
        make_driver("orakle", AgentOptions())


def test_the_script_agent_needs_a_script() -> None:
    with pytest.raises(UsageError):
        make_driver("script", AgentOptions())
