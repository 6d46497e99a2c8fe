from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from controller.episode.result import Reason
from evaluators.graph.outcome import Verdict
from evaluators.model.task import SUDO_PASSWORD
from tests.unit.controller.bench import Bench, Scripted, make_task
from tests.unit.controller.episode.test_trial import desktop_of

if TYPE_CHECKING:
    from controller.protocol import Agent, AgentContext


def test_a_task_with_sudo_gets_a_password_that_its_instruction_names(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted: list[str] = []
    monkeypatch.setattr(desktop_of(bench), "grant_sudo", granted.append, raising=False)

    class Reader(Scripted):
        instruction = ""

        def __call__(self, context: AgentContext, /) -> Agent:
            self.instruction = context.instruction
            return self

    agent = Reader()
    bench.run(make_task(sudo=True), agent)
    bench.run(make_task(), Scripted())

    assert granted == [SUDO_PASSWORD]
    assert agent.instruction.endswith(f'You may use sudo; your password is "{SUDO_PASSWORD}".')
    started = [event["instruction"] for event in bench.events if event["type"] == "start"]
    assert SUDO_PASSWORD not in started[-1]


def test_machine_without_sudo_makes_the_trial_inconclusive(bench: Bench) -> None:
    result = bench.play(make_task(sudo=True))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.ENVIRONMENT_ERROR)
    assert "does not support sudo" in result.detail


def test_sudo_needs_a_desktop_and_leaves_other_digests() -> None:
    with pytest.raises(ValidationError, match="`sudo` is for desktops"):
        make_task(sudo=True, roles={"phone": "phone"})
    assert "sudo" not in make_task().model_dump(mode="json")
