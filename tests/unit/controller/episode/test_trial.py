from __future__ import annotations

import json
import logging
import os
import signal
from typing import TYPE_CHECKING

import pytest

from controller.actions.space import Action
from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver
from controller.episode.episode import Episode
from controller.episode.result import Reason
from controller.episode.trial import run_trial
from controller.models.usage import Usage
from controller.observation.observer import describe_tree
from controller.protocol import Turn
from evaluators.graph.outcome import Verdict
from foundation.errors import AgentError, LinkTimeoutError, MachineStartError
from foundation.logging import ContextFilter
from provisioning.fake.fleet import FakeLease
from provisioning.resource import DESKTOP, ResourceSpec
from tests.unit.controller.bench import Bench, Scripted, make_task

if TYPE_CHECKING:
    from evaluators.model.task import Task
    from provisioning.fake import FakeDesktop, FakePhone

OPEN = Action("open_app", "desktop", {"name": "Terminal"})


def type_line(value: str) -> Action:
    line = f"gsettings set org.gnome.desktop.interface color-scheme {value}\n"
    return Action("type_text", "desktop", {"text": line})


def desktop_of(bench: Bench) -> FakeDesktop | FakePhone:
    """Create the desktop before a trial leases it, so that faults can be injected."""
    with bench.fleet.acquire({"desktop": ResourceSpec(DESKTOP)}):
        return bench.fakes.machines[DESKTOP, 0]


def test_success_ends_the_trial_without_complete(bench: Bench, dark_task: Task) -> None:
    result = bench.play(dark_task)
    assert (result.verdict, result.reason) == (Verdict.PASS, Reason.SUCCESS)
    assert (result.nodes_met, result.nodes, result.steps) == (1, 1, 2)


def test_every_step_is_logged_with_its_pictures(bench: Bench, dark_task: Task) -> None:
    bench.play(dark_task)
    types = [event["type"] for event in bench.events]
    assert types == ["start", "lease", "observation", "step", "step", "end"]
    pictures = {event["screens"]["desktop"] for event in bench.events if "screens" in event}
    assert len(pictures) == 3
    assert all((bench.folder / "blobs" / f"{name}.png").is_file() for name in pictures)
    assert bench.events[4]["met"] == ["dark"]


def test_lines_logged_during_a_trial_name_its_machines(
    bench: Bench, dark_task: Task, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.handler.addFilter(ContextFilter())

    def act() -> None:
        logging.getLogger("controller.some_module").warning("acting")

    bench.run(dark_task, Scripted(act))
    (record,) = (record for record in caplog.records if record.getMessage() == "acting")
    machine = bench.fakes.machines[DESKTOP, 0].info.machine_id
    assert vars(record)["names"]["machine"] == machine


def test_trees_are_logged_as_shown_to_the_agent(bench: Bench, dark_task: Task) -> None:
    bench.with_trees = True
    agent = Scripted(Action("wait", None, {"seconds": 0.1}), Action("fly"))
    bench.drive(dark_task, AgentDriver(agent))
    types = [event["type"] for event in bench.events]
    shown = ["observation", "trees", "step", "trees", "refused", "trees", "step", "end"]
    assert types == ["start", "lease", *shown]
    rows = [event for event in bench.events if event["type"] == "trees"]
    assert [row["n"] for row in rows] == [0, 1, 1]
    for row, seen in zip(rows, agent.seen, strict=True):
        path = bench.folder / "blobs" / f"{row['trees']['desktop']}.json"
        assert json.loads(path.read_text()) == describe_tree(seen.trees["desktop"])
        assert {"role", "name", "bounds"} < json.loads(path.read_text())[0].keys()


def test_measures_are_recorded_with_their_labels(bench: Bench, dark_task: Task) -> None:
    bench.play(dark_task)
    names = {(name, *sorted(labels.items())) for name, _, labels in bench.measures}
    assert ("verdicts_total", ("suite", "tiny"), ("verdict", "PASS")) in names
    assert ("trials_ended_total", ("reason", "success")) in names
    assert ("steps_total", ("agent", "test"), ("suite", "tiny")) in names
    phases = {labels["phase"] for name, _, labels in bench.measures if name == "step_seconds"}
    assert phases == {"agent", "act", "settle", "observe", "evaluate"}


def test_complete_without_success_is_a_false_completion(bench: Bench, dark_task: Task) -> None:
    result = bench.run(dark_task, NoopAgent)
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.FALSE_COMPLETION)
    assert result.nodes_met == 0


def test_step_limit(bench: Bench, dark_task: Task) -> None:
    moves = [Action("move", "desktop", {"x": n, "y": n}) for n in range(100, 120)]
    result = bench.run(dark_task, Scripted(*moves))
    assert (result.verdict, result.reason, result.steps) == (Verdict.FAIL, Reason.STEP_LIMIT, 5)


def test_time_limit_includes_thinking_time(bench: Bench, dark_task: Task) -> None:
    agent = Scripted(OPEN, lambda: bench.clock.advance(60), type_line("prefer-dark"))
    result = bench.run(dark_task, agent)
    assert (result.verdict, result.reason, result.steps) == (Verdict.FAIL, Reason.TIME_LIMIT, 1)


def test_repetition_limit(bench: Bench, dark_task: Task) -> None:
    click = Action("click", "desktop", {"x": 150, "y": 150})
    result = bench.run(dark_task, Scripted(click, click, click, click))
    assert (result.reason, result.steps) == (Reason.REPETITION_LIMIT, 3)


def test_waiting_is_not_a_repetition(bench: Bench, dark_task: Task) -> None:
    wait = Action("wait", args={"seconds": 1.0})
    result = bench.run(dark_task, Scripted(wait, wait, wait, wait))
    assert (result.reason, result.steps) == (Reason.FALSE_COMPLETION, 5)
    assert result.verdict is Verdict.FAIL


def test_same_action_may_be_repeated_while_screens_change(bench: Bench, dark_task: Task) -> None:
    line = Action("type_text", "desktop", {"text": "wwwwwwwwwwwwwwwwwwwwwwwwww\n"})
    result = bench.run(dark_task, Scripted(OPEN, line, line, line))
    assert (result.reason, result.steps) == (Reason.FALSE_COMPLETION, 5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        Action("fly", "desktop"),
        Action("click", "tablet", {"x": 1, "y": 1}),
        Action("click", "desktop", {"x": 1}),
        Action("click", "desktop", {"x": 1, "y": 100_000}),
        Action("click", "desktop", {"x": "1", "y": 1}),
        Action("open_app", "desktop", {"name": "Nothing"}),
        Action("key", "desktop", {"keys": ["NoSuchKey"]}),
        Turn(()),
    ],
)
def test_invalid_actions_are_reported_and_end_the_trial(
    bench: Bench, dark_task: Task, wrong: Action | Turn
) -> None:
    agent = Scripted(wrong, wrong, wrong, wrong)
    result = bench.run(dark_task, agent)
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.INVALID_ACTION)
    assert result.steps == 0
    assert [bool(seen.feedback) for seen in agent.seen] == [False, True, True]


def test_valid_action_resets_the_count_of_invalid_ones(bench: Bench, dark_task: Task) -> None:
    wrong = Action("fly", "desktop")
    result = bench.run(
        dark_task, Scripted(wrong, wrong, OPEN, wrong, wrong, type_line("prefer-dark"))
    )
    assert result.verdict is Verdict.PASS


def test_rest_of_a_turn_is_dropped_after_a_rejected_action(bench: Bench, dark_task: Task) -> None:
    turn = Turn((Action("fly", "desktop"), OPEN, type_line("prefer-dark")))
    assert bench.run(dark_task, Scripted(turn)).verdict is Verdict.FAIL


def test_agent_that_gives_up_fails(bench: Bench, dark_task: Task) -> None:
    result = bench.run(dark_task, Scripted(AgentError("lost")))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.AGENT_ERROR)
    assert result.detail == "lost"


@pytest.mark.parametrize("point", ["capture", "input", "rewind", "call.open_app"])
def test_failing_machine_is_an_environment_error_and_never_fail(
    bench: Bench, dark_task: Task, point: str
) -> None:
    desktop_of(bench).faults.add(point, LinkTimeoutError("no reply"))
    result = bench.play(dark_task)
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.ENVIRONMENT_ERROR)
    assert "no reply" in result.detail


def test_fleet_without_machines_is_an_environment_error(bench: Bench, dark_task: Task) -> None:
    bench.fakes.machines.clear()
    bench.fakes._prepare = _refuse
    result = bench.play(dark_task)
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.ENVIRONMENT_ERROR)


def _refuse(machine: object) -> None:
    raise MachineStartError("no boot")


def test_agent_cannot_interrupt_its_run(bench: Bench, dark_task: Task) -> None:
    result = bench.run(dark_task, Scripted(OPEN, KeyboardInterrupt("mine")))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.AGENT_ERROR)
    assert "The agent raised KeyboardInterrupt: mine" in result.detail
    assert not bench.cancel.is_cancelled


def test_ctrl_c_is_recorded_as_cancelled(bench: Bench, dark_task: Task) -> None:
    result = bench.run(dark_task, Scripted(OPEN, lambda: os.kill(os.getpid(), signal.SIGINT)))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.CANCELLED)
    assert result.steps == 1
    assert result.detail == "Interrupted."
    assert bench.cancel.is_cancelled


TWO_HOLDS = [
    {
        "id": "dark",
        "on": "desktop",
        "check": "gsetting_equals",
        "with": {
            "schema": "org.gnome.desktop.interface",
            "key": "color-scheme",
            "value": "prefer-dark",
        },
    },
    {
        "id": "note",
        "on": "desktop",
        "check": "file_text_equals",
        "with": {"path": "~/note", "text": "x"},
    },
]
NOTE = Action("type_text", "desktop", {"text": "echo x > note\n"})


def test_undone_hold_node_fails_the_trial(bench: Bench) -> None:
    moves = (OPEN, type_line("prefer-dark"), type_line("default"), NOTE)
    result = bench.run(make_task(graph=TWO_HOLDS), Scripted(*moves))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.FALSE_COMPLETION)
    assert (result.nodes_met, bench.events[-1]["undone"]) == (1, ["dark"])


def test_undone_hold_node_can_be_met_again(bench: Bench) -> None:
    moves = (OPEN, type_line("prefer-dark"), type_line("default"), NOTE, type_line("prefer-dark"))
    result = bench.run(make_task(graph=TWO_HOLDS), Scripted(*moves))
    assert (result.verdict, result.reason, result.steps) == (Verdict.PASS, Reason.SUCCESS, 5)


@pytest.mark.slow
def test_tokens_are_summed(bench: Bench, dark_task: Task) -> None:
    result = bench.run(
        dark_task, Scripted(Turn((OPEN,), Usage(10, 2, 0.5)), Turn((OPEN,), Usage(5, 1)))
    )
    assert result.usage == Usage(15, 3, 0.5)
    tokens = {
        labels["direction"]: v for name, v, labels in bench.measures if name == "tokens_total"
    }
    assert tokens == {"prompt": 15, "completion": 3}
    assert ("money_usd_total", 0.5, {"agent": "test", "model": ""}) in bench.measures


def test_release_failure_does_not_change_the_verdict(
    bench: Bench, dark_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Sticky(FakeLease):
        def release(self) -> None:
            super().release()
            raise MachineStartError("cannot go back")

    monkeypatch.setattr("provisioning.fake.fleet.FakeLease", Sticky)
    result = bench.play(dark_task)
    assert result.verdict is Verdict.PASS
    assert bench.events[-1]["type"] == "return_error"
    assert bench.events[-2]["type"] == "end"


DRAWN = {
    "parameters": {"word": {"type": "text", "words": 4}},
    "roles": {"desktop": "desktop"},
    "instruction": "Write ${word} into ~/word.txt.",
    "graph": [
        {
            "id": "written",
            "on": "desktop",
            "check": "file_text_equals",
            "with": {"path": "~/word.txt", "text": "${word}"},
        }
    ],
    "oracle": [
        {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}},
        {"on": "desktop", "do": "type_text", "with": {"text": "echo ${word} > word.txt\n"}},
    ],
}


def test_trial_draws_its_values_from_its_seed_and_records_them(bench: Bench) -> None:
    task = make_task(**DRAWN)
    first, again, other = (
        run_trial(Episode(bench.context), task, OracleDriver(), seed=seed) for seed in (7, 7, 8)
    )
    assert {first.verdict, other.verdict} == {Verdict.PASS}
    assert first.parameters == again.parameters != other.parameters
    assert len(str(first.parameters["word"]).split()) == 4


def test_task_without_values_left_is_a_task_error(bench: Bench) -> None:
    constant = {"type": "integer", "min": 1, "max": 1}
    task = make_task(parameters={"a": constant, "b": {**constant, "differs_from": ["a"]}})
    result = bench.play(task)
    assert (result.reason, result.machines) == (Reason.TASK_ERROR, ())
    assert "'b' has no value left" in result.detail


IMPOSSIBLE = {
    "roles": {"desktop": "desktop"},
    "infeasible": "There is no printer.",
    "setup": [{"on": "desktop", "do": "put_file", "with": {"path": "~/kept", "content": "k"}}],
    "graph": [
        {"id": "said", "on": "session", "check": "declared_infeasible"},
        {
            "id": "kept",
            "on": "desktop",
            "check": "file_text_equals",
            "mode": "keep",
            "with": {"path": "~/kept", "text": "k"},
        },
    ],
    "oracle": [{"do": "declare_infeasible", "with": {"reason": "There is no printer."}}],
}


def test_infeasible_task_passes_when_declared_infeasible(bench: Bench, dark_task: Task) -> None:
    result = bench.play(make_task(**IMPOSSIBLE))
    assert (result.verdict, result.reason, result.steps) == (Verdict.PASS, Reason.SUCCESS, 1)
    assert bench.run(make_task(**IMPOSSIBLE), NoopAgent).verdict is Verdict.FAIL
    give_up = Action("declare_infeasible", args={"reason": "No."})
    given_up = bench.run(dark_task, Scripted(give_up))
    assert (given_up.verdict, given_up.reason) == (Verdict.FAIL, Reason.DECLARED_INFEASIBLE)
    assert given_up.detail == "No."


def test_weighted_score_is_reported_with_the_node_counts(bench: Bench) -> None:
    rows = [
        {"id": name, "on": "desktop", "check": "file_exists", "with": {"path": f"~/{name}"}}
        for name in ("a", "b")
    ]
    task = make_task(graph=[{**rows[0], "weight": 3.0}, rows[1]], roles={"desktop": "desktop"})
    touch = Action("type_text", "desktop", {"text": "touch ~/a\n"})
    result = bench.run(task, Scripted(OPEN, touch))
    assert (result.nodes_met, result.nodes, result.weighted) == (1, 2, 0.75)
    assert bench.run(make_task(), NoopAgent).weighted is None
