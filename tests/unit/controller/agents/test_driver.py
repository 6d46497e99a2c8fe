from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from controller.actions.space import Action
from controller.agents.driver import AgentDriver
from controller.agents.human import HumanDriver
from controller.agents.oracle import Oracle
from controller.episode.context import RunContext
from controller.episode.episode import Episode
from controller.episode.result import Reason
from controller.episode.step import Step
from controller.episode.trial import run_trial
from controller.protocol import Turn
from evaluators.graph.outcome import Verdict
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import ModelUnavailableError
from provisioning.fake import FakeFleet
from tests.unit.controller.bench import SET_DARK, Scripted, make_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.observation.observer import Observation
    from controller.protocol import Agent, AgentContext
    from tests.unit.controller.bench import Bench

OPEN = Action("open_app", "desktop", {"name": "Terminal"})
MOVE = Action("move", "desktop", {"x": 1, "y": 2})
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
@pytest.mark.slow
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


class Down(Hanging):
    """An agent whose model is down until it returns, as is measured."""

    def act(self, observation: Observation) -> Turn:
        start_s = SYSTEM_CLOCK.monotonic_s()
        self.released.wait(self.wait_s)
        return Turn((OPEN,), outage_s=SYSTEM_CLOCK.monotonic_s() - start_s)

    def pending_outage_s(self) -> float:
        return SYSTEM_CLOCK.monotonic_s() - self.began_s

    def __call__(self, context: AgentContext, /) -> Agent:
        self.began_s = SYSTEM_CLOCK.monotonic_s()
        return self


@pytest.mark.parametrize(
    ("is_measured", "reason"), [(True, Reason.STEP_LIMIT), (False, Reason.TIME_LIMIT)]
)
@pytest.mark.slow
def test_only_a_measured_outage_gives_an_agent_more_time(
    episode: Episode, *, is_measured: bool, reason: Reason
) -> None:
    task = make_task(limits={"seconds": 0.5, "steps": 1})
    driver = AgentDriver(Down(wait_s=1.5), measures_outage=is_measured)
    result = run_trial(episode, task, driver)
    assert result.reason is reason
    assert (result.agent_seconds >= 0.5) is not is_measured


@pytest.mark.parametrize("is_measured", [True, False])
def test_outage_that_an_agent_reports_is_logged_and_not_believed(
    bench: Bench, *, is_measured: bool
) -> None:
    wait = lambda: bench.clock.advance(8)  # noqa: E731
    moves = [part for _ in range(4) for part in (wait, Turn((MOVE,), outage_s=8.0))]
    driver = AgentDriver(Scripted(*moves), measures_outage=is_measured)
    result = bench.drive(make_task(limits={"seconds": 20.0, "steps": 4}), driver)
    reported = [row["data"] for row in bench.events if row.get("kind") == "outage"]
    if is_measured:
        assert (result.reason, result.agent_seconds, reported) == (Reason.STEP_LIMIT, 0, [])
    else:
        assert (result.reason, result.agent_seconds) == (Reason.TIME_LIMIT, 24)
        assert reported == [{"measured_s": 0.0, "reported_s": 8.0}] * 3


def test_outage_in_an_error_of_the_agent_is_not_believed(bench: Bench) -> None:
    error = ModelUnavailableError("It is down.")
    error.outage_s = 8.0
    result = bench.run(make_task(), Scripted(lambda: bench.clock.advance(8), error))
    assert (result.reason, result.agent_seconds) == (Reason.MODEL_UNAVAILABLE, 8)


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
