from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from controller.actions.space import Action
from controller.agents.driver import AgentDriver
from controller.confirmations import Pending, answer, answer_each, pending
from controller.episode.confirmation import Answer, Confirmer
from controller.episode.result import Reason
from controller.executors.local import LocalTrials
from controller.planning import specify_run
from controller.specification.agent import CustomSpec
from controller.specification.run import ActionSpec
from controller.store.runs import Store
from controller.wiring import make_context
from foundation.clock import SYSTEM_CLOCK, FakeClock, wait_until
from foundation.errors import RequirementError, UnknownNameError
from tests.unit.controller.bench import Scripted
from tests.unit.controller.lab import ignore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from controller.episode.result import TrialResult
    from controller.store.runs import RunFolder
    from tests.unit.controller.lab import Lab

TYPE = Action("type_text", "desktop", {"text": "rm -rf ~\n"})
MOVE = Action("move", "desktop", {"x": 5, "y": 6})


def begin(lab: Lab, folder: Path, agent: Scripted) -> RunFolder:
    spec = specify_run(
        lab.suite,
        CustomSpec(name="test"),
        tasks=["dark-style"],
        actions=ActionSpec(confirm=True),
        clock=lab.clock,
    )
    context = make_context(spec, lab.suite, lab.fleet, clock=lab.clock, take=ignore)
    lab.trials = LocalTrials(lab.suite, context, AgentDriver(agent))
    return Store(folder).create(spec)


class Started:
    """A run whose trial runs in another thread."""

    def __init__(self, lab: Lab, run: RunFolder) -> None:
        self.run = run
        self.results: list[TrialResult] = []
        self._thread = threading.Thread(target=lambda: self.results.extend(lab.go(run)))
        self._thread.start()

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def waiting(self) -> Pending:
        rows = wait_until(lambda: list(pending(self.run)), timeout_s=20)
        assert rows
        return rows[0]

    def result(self) -> TrialResult:
        self._thread.join(30)
        (result,) = self.results
        return result


def approve_all(trial: Started) -> None:
    """Approve the actions of a trial until it is over."""
    answer_each(trial.run, lambda _: Answer(is_approved=True), lambda: trial.is_over)


@pytest.fixture
def start(lab: Lab) -> Iterator[Callable[..., Started]]:
    started: list[Started] = []

    def make(folder: Path, *moves: Action) -> Started:
        started.append(Started(lab, begin(lab, folder, Scripted(*moves))))
        return started[-1]

    yield make
    for trial in started:
        approve_all(trial)


def test_action_waits_and_is_executed_once_it_is_approved(
    start: Callable[..., Started], tmp_path: Path
) -> None:
    trial = start(tmp_path / "runs", MOVE)
    waiting = trial.waiting()
    assert waiting.question.action == MOVE.to_dict()
    assert waiting.question.points == [[5, 6]]
    assert waiting.question.screens.keys() >= {"desktop"}
    assert [event["type"] for event in trial.run.events("dark-style", 0)][-1] == "observation"
    answer(trial.run, "dark-style", 0, 1, Answer(is_approved=True))
    second = wait_until(
        lambda: [row for row in pending(trial.run) if row.question.number == 2], timeout_s=20
    )
    assert second
    assert second[0].question.action["do"] == "complete"
    answer(trial.run, "dark-style", 0, 2, Answer(is_approved=True))
    result = trial.result()
    assert (result.steps, result.reason) == (2, Reason.FALSE_COMPLETION)
    with pytest.raises(UnknownNameError, match="answered it already"):
        answer(trial.run, "dark-style", 0, 1, Answer(is_approved=True))


def test_declined_action_is_not_executed_and_the_agent_is_told_why(
    start: Callable[..., Started], tmp_path: Path
) -> None:
    trial = start(tmp_path / "runs", TYPE)
    trial.waiting()
    answer(trial.run, "dark-style", 0, 1, Answer(is_approved=False, reason="That deletes files."))
    approve_all(trial)
    result = trial.result()
    assert result.members["agent"].refused == {"refused_by_person": 1}
    refused = [e for e in trial.run.events("dark-style", 0) if e["type"] == "refused"]
    assert "That deletes files." in refused[0]["why"]
    assert result.steps == 1


@pytest.mark.slow
def test_wait_is_charged_to_nobody(lab: Lab, start: Callable[..., Started], tmp_path: Path) -> None:
    trial = start(tmp_path / "runs", MOVE)
    trial.waiting()
    start_s = lab.clock.monotonic_s()
    # The fake clock runs as fast as the trial polls; the lease is renewed meanwhile.
    assert wait_until(lambda: lab.clock.monotonic_s() - start_s > 20_000, timeout_s=60)
    approve_all(trial)
    result = trial.result()
    assert result.reason is Reason.FALSE_COMPLETION
    assert result.agent_seconds < 100


def test_trial_without_a_folder_cannot_be_confirmed() -> None:
    with pytest.raises(RequirementError, match="Nobody can confirm"):
        Confirmer(None, FakeClock())


def test_answers_stop_with_the_run(lab: Lab, tmp_path: Path) -> None:
    run = begin(lab, tmp_path / "runs", Scripted())
    over = threading.Event()
    thread = threading.Thread(
        target=answer_each, args=(run, lambda _: Answer(is_approved=True), over.is_set)
    )
    thread.start()
    SYSTEM_CLOCK.sleep(0.05)
    over.set()
    thread.join(10)
    assert not thread.is_alive()
