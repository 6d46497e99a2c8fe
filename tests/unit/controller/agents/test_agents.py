from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from controller.actions.space import Action
from controller.agents.oracle import OracleDriver
from controller.agents.random_agent import RandomAgent
from controller.agents.script import ScriptAgent, read_script
from controller.episode.result import Reason
from controller.specification.run import trial_seed
from evaluators.graph.outcome import Verdict
from foundation.errors import GuestCallError, LinkTimeoutError, SpecError
from provisioning.fake.desktop import FakeDesktop
from provisioning.protocols import Search
from provisioning.resource import DESKTOP, ResourceSpec
from tests.unit.controller.bench import SET_DARK, make_task

if TYPE_CHECKING:
    from pathlib import Path

    from controller.protocol import AgentContext
    from evaluators.model.task import Task
    from foundation.errors import MesocosmError
    from tests.unit.controller.bench import Bench

TYPE = {"on": "desktop", "do": "type_text", "with": {"text": f"{SET_DARK}\n"}}
TERMINAL_OPEN = {"on": "desktop", "check": "window_open", "with": {"app": "Gnome-terminal"}}


def test_oracle_clicks_elements_by_name(bench: Bench) -> None:
    at = {"name": "Terminal", "role": "push button"}
    task = make_task(oracle=[{"on": "desktop", "do": "click", "at": at}, TYPE])
    assert bench.play(task).verdict is Verdict.PASS
    assert bench.events[3]["action"] == {
        "on": "desktop",
        "do": "click",
        "with": {"x": 40, "y": 10},
    }


@pytest.mark.parametrize(("backend", "waits_s"), [("libvirt", 5), ("fake", 1)])
def test_oracle_names_the_element_it_cannot_find(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, backend: str, waits_s: int
) -> None:
    monkeypatch.setattr(
        FakeDesktop, "info", property(lambda self: replace(self._info, backend=backend))
    )
    act = {"on": "desktop", "do": "click", "at": {"name": "Nowhere"}, "seconds": 5.0}
    before_s = bench.clock.now_s()
    result = bench.play(make_task(oracle=[act]))
    assert (result.reason, result.verdict) == (Reason.AGENT_ERROR, Verdict.FAIL)
    assert "Nowhere" in result.detail
    assert "Terminal" in result.detail
    assert waits_s <= bench.clock.now_s() - before_s < waits_s + 2
    assert f"within {waits_s} s" in result.detail


def test_oracle_searches_on_the_machine_and_reports_a_cut_search(bench: Bench) -> None:
    with bench.fleet.acquire({"desktop": ResourceSpec(DESKTOP)}):
        desktop = bench.fakes.machines[DESKTOP, 0]
    asked: list[tuple[str | None, str | None]] = []

    def search(*, name: str | None, role: str | None, count: int = 1) -> Search:
        asked.append((name, role))
        found = [element for element in desktop.elements() if element.name == name]
        return Search(found, cut="" if found else "time")

    desktop.search = search  # type: ignore[union-attr]
    at = {"name": "Terminal", "role": "push button"}
    assert bench.play(
        make_task(oracle=[{"on": "desktop", "do": "click", "at": at}, TYPE])
    ).nodes_met
    assert asked == [("Terminal", "push button")]
    result = bench.play(make_task(oracle=[{"on": "desktop", "do": "click", "at": {"name": "No"}}]))
    assert "did not read its whole tree in time" in result.detail


def test_oracle_names_an_element_of_another_role_first(bench: Bench) -> None:
    at = {"name": "Terminal", "role": "menu item"}
    act = {"on": "desktop", "do": "click", "at": at, "seconds": 1.0}
    result = bench.play(make_task(oracle=[act]))
    assert "Existing elements: 'Terminal' (push button)" in result.detail


def test_waiting_counts_no_step(bench: Bench) -> None:
    opens = {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}}
    task = make_task(oracle=[opens, {"wait_for": TERMINAL_OPEN}, TYPE])
    result = bench.play(task)
    assert (result.verdict, result.steps) == (Verdict.PASS, 2)


def test_endless_wait_ends_the_oracle(bench: Bench) -> None:
    task = make_task(oracle=[{"wait_for": TERMINAL_OPEN, "seconds": 4.0}])
    result = bench.play(task)
    assert (result.reason, result.steps) == (Reason.AGENT_ERROR, 0)
    assert "window_open" in result.detail


def test_broken_tree_is_an_environment_error(bench: Bench) -> None:
    with bench.fakes.acquire({"desktop": ResourceSpec(DESKTOP)}):
        bench.fakes.machines[DESKTOP, 0].faults.add("tree", LinkTimeoutError("no reply"))
    task = make_task(oracle=[{"on": "desktop", "do": "click", "at": {"name": "Terminal"}}])
    assert bench.play(task).reason is Reason.ENVIRONMENT_ERROR


@pytest.mark.parametrize(
    "error", [LinkTimeoutError("no reply"), GuestCallError("the helper process died")]
)
def test_late_tree_is_requested_again(bench: Bench, error: MesocosmError) -> None:
    with bench.fakes.acquire({"desktop": ResourceSpec(DESKTOP)}):
        faults = bench.fakes.machines[DESKTOP, 0].faults
        faults.add("tree", error, effect=faults.clear)
    click = {"on": "desktop", "do": "click", "at": {"name": "Terminal"}}
    assert bench.play(make_task(oracle=[click, TYPE])).verdict is Verdict.PASS


def test_oracle_for_other_machines_fails(bench: Bench, dark_task: Task) -> None:
    steps = make_task(
        roles={"phone": "phone", "desktop": "desktop"},
        oracle=[{"on": "phone", "do": "tap", "at": {"name": "Tasks"}}],
    ).oracle
    result = bench.drive(dark_task, OracleDriver(lambda _task, _seed: steps))
    assert (result.reason, result.verdict) == (Reason.AGENT_ERROR, Verdict.FAIL)


def random_actions(bench: Bench, seed: int) -> list[object]:
    task = make_task(
        roles={"desktop": "desktop", "phone": "phone"},
        limits={"steps": 30, "seconds": 900.0, "repetitions": 30, "invalid_actions": 30},
    )

    def make(context: AgentContext) -> RandomAgent:
        import dataclasses

        return RandomAgent(dataclasses.replace(context, seed=seed))

    bench.run(task, make)
    return [event["action"] for event in bench.events if event["type"] in {"step", "refused"}]


@pytest.mark.slow
def test_random_agent_follows_its_seed(bench: Bench) -> None:
    first = random_actions(bench, 1)
    assert len(first) > 5
    assert random_actions(bench, 1) == first
    assert random_actions(bench, 2) != first


@pytest.mark.slow
def test_random_arguments_are_valid(bench: Bench) -> None:
    for seed in range(10):
        random_actions(bench, seed)
        refused = [event["why"] for event in bench.events if event["type"] == "refused"]
        assert not [why for why in refused if "Wrong arguments" in why or "outside" in why]


def test_each_trial_has_its_own_seed() -> None:
    seeds = {trial_seed(s, task, n) for s in (0, 1) for task in "ab" for n in range(3)}
    assert len(seeds) == 12
    assert trial_seed(1, "a", 2) == trial_seed(1, "a", 2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.yaml", "- {on: desktop, do: key, with: {keys: [Return]}}\n- {do: complete}\n"),
        (
            "s.jsonl",
            '{"on": "desktop", "do": "key", "with": {"keys": ["Return"]}}\n\n{"do": "complete"}\n',
        ),
    ],
)
def test_scripts_are_read(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert read_script(path) == [
        Action("key", "desktop", {"keys": ["Return"]}),
        Action("complete"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("s.yaml", "- {do: complete}\n- {done: complete}\n", "s.yaml:2"),
        ("s.yaml", "do: complete\n", "s.yaml:1"),
        ("s.jsonl", '{"do": "complete"}\n{"do"\n', "s.jsonl:2"),
        ("s.jsonl", '{"do": "complete"}\n"complete"\n', "s.jsonl:2"),
    ],
)
def test_wrong_script_is_reported_with_its_line(
    tmp_path: Path, name: str, text: str, place: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SpecError, match=place):
        read_script(path)


def test_missing_script_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"none\.jsonl"):
        read_script(tmp_path / "none.jsonl")


def test_script_is_played_and_completes(bench: Bench, dark_task: Task) -> None:
    actions = [Action("open_app", "desktop", {"name": "Terminal"})]
    result = bench.run(dark_task, lambda context: ScriptAgent(context, actions))
    assert (result.reason, result.steps) == (Reason.FALSE_COMPLETION, 2)
