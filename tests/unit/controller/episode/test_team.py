"""Several members in one trial: events, usage, limits, metrics and results carry their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from controller.actions.space import Action
from controller.diary import Entry
from controller.episode.result import MemberShare, Reason
from controller.models.usage import Usage
from controller.protocol import Turn
from controller.specification.agent import Member, ModelSpec, OracleSpec
from controller.specification.episode import TeamMember
from controller.store.export import export_rows
from controller.store.report import read_report
from controller.store.runs import Store
from controller.store.spending import read_spending
from foundation.clock import FakeClock
from foundation.errors import AgentError, EpisodeUseError
from tests.unit.controller.comparison.test_comparison import SPEC
from tests.unit.controller.jobs import next_job

if TYPE_CHECKING:
    from pathlib import Path

    from controller.episode.episode import Episode
    from controller.observation.observer import Observation
    from evaluators.model.task import Task
    from tests.unit.controller.bench import Bench

OPEN = Action("open_app", "desktop", {"name": "Terminal"})
TEAM = {
    "planner": TeamMember("model:large", "large"),
    "clicker": TeamMember("model:small", "small"),
}


class Alternating:
    """Lets the members take turns."""

    def __init__(self, *turns: tuple[str, Turn | AgentError]) -> None:
        self._turns = turns

    def drive(self, episode: Episode, observation: Observation) -> None:
        for name, turn in self._turns:
            episode.note([Entry("thought", {"text": name})], member=name)
            if isinstance(turn, AgentError):
                episode.fail(turn, member=name)
            else:
                episode.step(turn, member=name)
            if episode.is_over:
                return


def test_every_record_carries_the_member(bench: Bench, dark_task: Task) -> None:
    bench.members = TEAM
    error = AgentError("It gives up.")
    error.tokens = (3, 0, 0, 0)
    result = bench.drive(
        dark_task,
        Alternating(
            ("planner", Turn((), Usage(100, 10, 0.5), fault="It only plans.")),
            ("clicker", Turn((OPEN,), Usage(20, 2))),
            ("planner", error),
        ),
    )
    assert (result.reason, result.ended_by) == (Reason.AGENT_ERROR, "planner")
    assert result.members == {
        "planner": MemberShare(Usage(103, 10, 0.5), turns=2, refused={"unusable_reply": 1}),
        "clicker": MemberShare(Usage(20, 2), steps=1, turns=1),
    }
    assert (result.usage, result.steps) == (Usage(123, 12, 0.5), 1)
    rows = [
        (row["type"], row["member"])
        for row in bench.events
        if row["type"] in {"agent", "step", "refused"}
    ]
    assert rows == [
        *(("agent", "planner"), ("refused", "planner")),
        *(("agent", "clicker"), ("step", "clicker")),
        ("agent", "planner"),
    ]
    assert bench.events[0]["agents"] == {"planner": "model:large", "clicker": "model:small"}
    prompts = [
        (labels["agent"], labels["model"], value)
        for name, value, labels in bench.measures
        if name == "tokens_total" and labels["direction"] == "prompt"
    ]
    assert prompts == [("model:large", "large", 103), ("model:small", "small", 20)]


def test_limits_apply_to_all_members_and_name_the_last(bench: Bench, dark_task: Task) -> None:
    bench.members = TEAM
    limits = dark_task.limits.model_copy(update={"tokens": 100})
    task = dark_task.model_copy(update={"limits": limits})
    result = bench.drive(
        task,
        Alternating(
            ("planner", Turn((OPEN,), Usage(60, 0))), ("clicker", Turn((OPEN,), Usage(60, 0)))
        ),
    )
    assert (result.reason, result.ended_by) == (Reason.TOKEN_LIMIT, "clicker")
    assert {name: share.usage.total for name, share in result.members.items()} == {
        "planner": 60,
        "clicker": 60,
    }


def test_turn_of_a_team_names_its_member(bench: Bench, dark_task: Task) -> None:
    bench.members = TEAM

    class Unnamed:
        def drive(self, episode: Episode, observation: Observation) -> None:
            for name in (None, "stranger"):
                with pytest.raises(EpisodeUseError, match="member") as caught:
                    episode.step((), member=name)
                assert "planner, clicker" in caught.value.resolution

    result = bench.drive(dark_task, Unnamed())
    assert (result.members, result.ended_by) == ({}, "")


def test_run_of_a_team_is_stored_and_shown(tmp_path: Path) -> None:
    large = ModelSpec(model="large", endpoint="http://host/v1", usd_per_mtok_prompt=1000)
    small = ModelSpec(model="small", endpoint="http://host/v1", usd_per_mtok_prompt=1)
    members = (Member(name="planner", agent=large), Member(name="clicker", agent=small))
    spec = SPEC.model_copy(update={"agents": members})
    folder, clock = Store(tmp_path).create(spec), FakeClock()
    assert folder.spec == spec
    assert (spec.agent_name, spec.model_name) == ("model:large+model:small", "large+small")
    with folder.begin_attempt(next_job(folder, "a"), clock) as log:
        log.append("step", member="planner", usage={"prompt": 1000, "completion": 0})
        log.append("step", member="clicker", usage={"prompt": 1000, "completion": 0})
    assert read_spending(folder).usd == pytest.approx(1.001)
    assert [row["member"] for row in export_rows(folder, "steps")] == ["planner", "clicker"]
    report = read_report(folder).to_dict()
    assert report["agents"] == [
        {"name": "planner", "agent": "model:large", "model": "large"},
        {"name": "clicker", "agent": "model:small", "model": "small"},
    ]
    with pytest.raises(ValidationError, match="several members are named agent"):
        type(spec).model_validate(
            {**spec.model_dump(), "agents": [Member(agent=OracleSpec()), Member(agent=large)]}
        )
