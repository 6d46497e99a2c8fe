from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from appliance.base.clock import SYSTEM_CLOCK
from controller.actions.space import Action
from controller.agents.driver import AgentDriver
from controller.agents.human import HumanDriver
from controller.agents.oracle import Oracle
from controller.agents.protocol import Turn
from controller.episode.context import RunContext
from controller.episode.episode import Episode
from controller.episode.result import Reason
from controller.episode.step import Step
from controller.episode.trial import run_trial
from evaluators.graph.outcome import Verdict
from provisioning.fake import FakeFleet
from tests.unit.controller.bench import SET_DARK, make_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.agents.protocol import Agent, AgentContext
    from controller.observation.observer import Observation

OPEN = Action("open_app", "desktop", {"name": "Terminal"})
TYPE = Action("type_text", "desktop", {"text": f"{SET_DARK}\n"})


class Hanging:
    """An agent that does not return until it is released."""

    def __init__(self, wait_s: float = 30.0) -> None:
        self.wait_s = wait_s
        self.called = threading.Event()
        self.released = threading.Event()

    def __call__(self, context: AgentContext, /) -> Agent:
        return self

    def act(self, observation: Observation) -> Turn:
        self.called.set()
        self.released.wait(self.wait_s)
        return Turn((OPEN,))


@pytest.fixture
def agent() -> Iterator[Hanging]:
    hanging = Hanging()
    yield hanging
    hanging.released.set()


@pytest.fixture
def episode() -> Episode:
    return Episode(RunContext(FakeFleet()))


@pytest.mark.parametrize(
    ("limits", "reason", "verdict"),
    [
        ({"seconds": 0.2}, Reason.TIME_LIMIT, Verdict.FAIL),
        ({"seconds": 60.0, "wall_seconds": 0.2}, Reason.WALL_LIMIT, Verdict.INCONCLUSIVE),
    ],
)
def test_unresponsive_agent_does_not_block_its_trial(
    agent: Hanging, episode: Episode, limits: dict[str, float], reason: Reason, verdict: Verdict
) -> None:
    start_s = SYSTEM_CLOCK.monotonic_s()
    result = run_trial(episode, make_task(limits=limits), AgentDriver(agent))
    assert (result.verdict, result.reason) == (verdict, reason)
    assert result.detail == "The agent did not answer in time."
    assert SYSTEM_CLOCK.monotonic_s() - start_s < 10


def test_agent_has_more_time_while_its_model_is_down(
    episode: Episode,
) -> None:
    task = make_task(limits={"seconds": 0.1})
    result = run_trial(episode, task, AgentDriver(Hanging(wait_s=0.3), allowance_s=20))
    # It returned after its time was over: no outage was reported.
    assert (result.reason, result.detail) == (Reason.TIME_LIMIT, "The agent used its 0.1 s.")


def test_cancellation_does_not_wait_for_the_agent(agent: Hanging, episode: Episode) -> None:
    def cancel() -> None:
        agent.called.wait(30)
        episode.cancel.cancel("Enough.")

    thread = threading.Thread(target=cancel)
    thread.start()
    result = run_trial(episode, make_task(), AgentDriver(agent))
    thread.join()
    assert (result.reason, result.detail) == (Reason.CANCELLED, "Enough.")
    assert not agent.released.is_set()


def test_no_agent_can_request_the_oracle_context() -> None:
    # mypy reports an unused ignore here if it ever accepts this.
    AgentDriver(Oracle)  # type: ignore[arg-type]


def test_person_drives_an_episode_from_outside(episode: Episode) -> None:
    driver = HumanDriver()
    results = []
    thread = threading.Thread(
        target=lambda: results.append(run_trial(episode, make_task(), driver))
    )
    thread.start()
    assert not isinstance(driver.receive(30), Step)
    driver.send([OPEN])
    first = driver.receive(30)
    assert isinstance(first, Step)
    assert not first.done
    driver.send([TYPE])
    last = driver.receive(30)
    assert isinstance(last, Step)
    assert last.reason is Reason.SUCCESS
    thread.join()
    assert results[0].verdict is Verdict.PASS


def test_inactive_person_reaches_the_time_limit(episode: Episode) -> None:
    driver = HumanDriver(poll_s=0.05)
    result = run_trial(episode, make_task(limits={"seconds": 0.2}), driver)
    assert result.reason is Reason.TIME_LIMIT
    received = [driver.receive(0) for _ in range(2)]
    assert isinstance(received[-1], Step)
    assert received[-1].done
    with pytest.raises(TimeoutError):
        driver.receive(0)
