"""An episode as used by a user's program."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from controller.actions.space import Action
from controller.episode.context import RunContext
from controller.episode.episode import Episode
from controller.episode.live import LiveTrial
from controller.episode.result import Reason
from controller.models.usage import Usage
from controller.protocol import AgentContext, Turn
from evaluators.graph.outcome import Verdict
from foundation.clock import FakeClock
from foundation.errors import EpisodeStartError, EpisodeUseError, MachineStartError
from provisioning.fake import FakeFleet
from provisioning.resource import DESKTOP
from tests.unit.controller.bench import SET_DARK, make_task

if TYPE_CHECKING:
    from controller.episode.step import Evaluation
    from controller.observation.observer import Frame

OPEN = Action("open_app", "desktop", {"name": "Terminal"})
TYPE = Action("type_text", "desktop", {"text": f"{SET_DARK}\n"})
MOVE = Action("move", "desktop", {"x": 9, "y": 9})


@pytest.fixture
def fleet() -> FakeFleet:
    return FakeFleet(FakeClock())


@pytest.fixture
def clock(fleet: FakeFleet) -> FakeClock:
    assert isinstance(fleet._clock, FakeClock)
    return fleet._clock


@pytest.fixture
def episode(fleet: FakeFleet, clock: FakeClock) -> Episode:
    return Episode(RunContext(fleet, clock=clock))


def test_program_resets_steps_and_closes(episode: Episode, fleet: FakeFleet) -> None:
    observation = episode.reset(make_task(), seed=7)
    assert observation.shots["desktop"].frame.shape == (200, 320, 3)
    first = episode.step([OPEN])
    assert (first.done, first.reason, first.newly_met) == (False, None, ())
    assert first.observation.step == 1
    last = episode.step([TYPE])
    assert (last.done, last.reason, last.newly_met) == (True, Reason.SUCCESS, ("dark",))
    assert fleet.leased == 1
    result = episode.close()
    assert fleet.leased == 0
    assert (result.verdict, result.reason, result.steps) == (Verdict.PASS, Reason.SUCCESS, 2)


def test_rejected_actions_are_explained_and_count_no_step(episode: Episode) -> None:
    episode.reset(make_task())
    step = episode.step([Action("fly", "desktop"), OPEN])
    assert (step.done, step.observation.step) == (False, 0)
    assert "fly" in step.feedback
    assert step.observation.feedback == step.feedback


def test_trial_can_be_evaluated_repeatedly_and_continues(
    episode: Episode, fleet: FakeFleet, clock: FakeClock
) -> None:
    episode.reset(make_task())
    machine = fleet.machines[DESKTOP, 0]
    before = episode.evaluate()
    assert (before.verdict, before.met, before.nodes) == (Verdict.FAIL, (), 1)
    assert [row.node for row in before.unmet] == ["dark"]
    machine.run(SET_DARK.split(), user="user")
    assert [episode.evaluate().verdict for _ in range(2)] == [Verdict.PASS] * 2
    machine.run([*SET_DARK.split()[:-1], "default"], user="user")
    assert episode.evaluate().verdict is Verdict.FAIL
    assert not episode.step([MOVE]).done
    assert episode.close().nodes_met == 0
    with pytest.raises(EpisodeUseError, match="over"):
        episode.evaluate()


def test_evaluation_time_is_not_charged_to_the_agent(episode: Episode, clock: FakeClock) -> None:
    episode.reset(make_task())
    live = episode._live
    assert live is not None
    evaluate = live.evaluate

    def slow() -> Evaluation:
        clock.advance(1000)
        return evaluate()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LiveTrial, "evaluate", lambda _self: slow())
        episode.evaluate()
    assert not episode.step([MOVE]).done


def test_close_can_be_called_twice(episode: Episode, fleet: FakeFleet) -> None:
    episode.reset(make_task())
    result = episode.close()
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.CANCELLED)
    assert episode.close() is result
    assert fleet.leased == 0


def test_leaving_an_episode_returns_its_machines(episode: Episode, fleet: FakeFleet) -> None:
    def use() -> None:
        with episode:
            episode.reset(make_task())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        use()
    assert fleet.leased == 0
    assert episode.close().reason is Reason.CANCELLED


def test_step_before_reset_is_rejected(episode: Episode) -> None:
    with pytest.raises(EpisodeUseError, match="not reset"):
        episode.step([OPEN])
    with pytest.raises(EpisodeUseError, match="not reset"):
        episode.agent_context()
    with pytest.raises(EpisodeUseError, match="not reset"):
        episode.close()


def test_second_reset_is_rejected(episode: Episode) -> None:
    with episode:
        episode.reset(make_task())
        with pytest.raises(EpisodeUseError, match="already been reset"):
            episode.reset(make_task())


def test_step_after_the_end_is_rejected(episode: Episode) -> None:
    episode.reset(make_task())
    assert episode.step([Action("complete")]).reason is Reason.FALSE_COMPLETION
    assert episode.is_over
    with pytest.raises(EpisodeUseError, match="over"):
        episode.step([OPEN])
    with pytest.raises(EpisodeUseError, match="over"):
        episode.fail(ValueError("late"))
    assert episode.close().verdict is Verdict.FAIL


def test_trial_that_cannot_start_reports_the_cause(fleet: FakeFleet, clock: FakeClock) -> None:
    def refuse(machine: object) -> None:
        raise MachineStartError("no boot")

    broken = FakeFleet(clock, refuse)
    episode = Episode(RunContext(broken, clock=clock))
    with pytest.raises(EpisodeStartError, match="no boot"):
        episode.reset(make_task())
    assert episode.close().reason is Reason.ENVIRONMENT_ERROR
    with pytest.raises(EpisodeUseError):
        episode.step([OPEN])


def test_agent_time_runs_from_observation_to_turn(episode: Episode, clock: FakeClock) -> None:
    episode.reset(make_task())
    clock.advance(4)
    episode.step([OPEN])
    clock.advance(30)
    episode.step(Turn((MOVE,), outage_s=28.0))
    left_s, _ = episode.time_left_s()
    assert left_s == pytest.approx(60 - 4 - 2)
    assert episode.close().agent_seconds == 6


def test_settling_and_evaluating_are_not_charged(
    fleet: FakeFleet, episode: Episode, clock: FakeClock
) -> None:
    episode.reset(make_task())
    machine = fleet.machines[DESKTOP, 0]
    capture = machine.capture

    def slow_capture() -> Frame:
        clock.advance(40)
        return capture()

    machine.capture = slow_capture  # type: ignore[method-assign]
    for _ in range(2):
        assert not episode.step([MOVE]).done
    assert episode.close().agent_seconds == 0


def test_slow_host_ends_at_the_wall_limit(episode: Episode, clock: FakeClock) -> None:
    limits = {"seconds": 600.0, "wall_seconds": 100.0}
    episode.reset(make_task(limits=limits))
    clock.advance(101)
    assert episode.step is not None
    step = episode.step(Turn((MOVE,), outage_s=101))
    assert (step.done, step.reason) == (True, Reason.WALL_LIMIT)
    assert episode.close().verdict is Verdict.INCONCLUSIVE


def test_wall_limit_on_an_obstructed_machine_is_attributed_to_the_agent(
    fleet: FakeFleet, episode: Episode, clock: FakeClock
) -> None:
    episode.reset(make_task(limits={"seconds": 600.0, "wall_seconds": 100.0}))
    fleet.machines[DESKTOP, 0].state.hindrance = "1000 processes are runnable"
    clock.advance(101)
    assert episode.step(Turn((MOVE,), outage_s=101)).done
    result = episode.close()
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.MACHINE_ENDED_BY_AGENT)
    assert "1000 processes are runnable" in result.detail


@pytest.mark.parametrize(
    ("waits", "reason", "verdict"),
    [
        ((10.0, 9.0, 10.0, 9.0, 10.0), Reason.WALL_LIMIT, Verdict.INCONCLUSIVE),
        ((10.0, 9.0, 10.0, 9.0, 10.0, 2.0), Reason.TIME_LIMIT, Verdict.FAIL),
    ],
    ids=["less than half of it", "half of it"],
)
def test_wall_limit_after_waits_is_attributed_to_the_agent(
    episode: Episode,
    clock: FakeClock,
    waits: tuple[float, ...],
    reason: Reason,
    verdict: Verdict,
) -> None:
    episode.reset(make_task(limits={"seconds": 600.0, "wall_seconds": 100.0}))
    for seconds in waits:
        assert not episode.step([Action("wait", args={"seconds": seconds})]).done
    clock.advance(60)
    step = episode.step(Turn((MOVE,), outage_s=60))
    assert (step.done, step.reason) == (True, reason)
    assert episode.close().verdict is verdict


def test_agent_that_waits_and_stays_away_is_judged(episode: Episode, clock: FakeClock) -> None:
    episode.reset(make_task(limits={"seconds": 600.0, "wall_seconds": 20.0}))
    assert not episode.step([Action("wait", args={"seconds": 10.0})]).done
    clock.advance(11)
    assert episode.expire(Reason.WALL_LIMIT).reason is Reason.TIME_LIMIT
    assert episode.close().verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"tokens": 100}, Reason.TOKEN_LIMIT), ({"usd": 0.5}, Reason.MONEY_LIMIT)],
)
def test_tokens_and_money_are_limited(
    episode: Episode, limits: dict[str, float], reason: Reason
) -> None:
    episode.reset(make_task(limits=limits))
    assert not episode.step(Turn((OPEN,), Usage(60, 40, 0.5))).done
    step = episode.step(Turn((MOVE,), Usage(1, 0, 0.01)))
    assert (step.done, step.reason, step.observation.step) == (True, reason, 1)
    assert episode.close().verdict is Verdict.FAIL


def test_episode_is_cancelled_from_another_thread(episode: Episode) -> None:
    episode.reset(make_task())
    episode.cancel.cancel("The service stops.")
    assert episode.is_due()
    step = episode.step([OPEN])
    assert (step.done, step.reason) == (True, Reason.CANCELLED)
    assert episode.close().detail == "The service stops."


def test_cancellation_ends_a_wait(episode: Episode, clock: FakeClock) -> None:
    episode.reset(make_task())
    advance = clock.advance

    def cancel(seconds: float) -> None:
        advance(seconds / 2)
        episode.cancel.cancel()

    clock.advance = cancel  # type: ignore[method-assign]
    before_s = clock.now_s()
    step = episode.step([Action("wait", args={"seconds": 10.0})])
    assert (step.reason, clock.now_s() - before_s) == (Reason.CANCELLED, 5)


def test_agent_context_has_exactly_five_fields() -> None:
    assert {field.name for field in dataclasses.fields(AgentContext)} == {
        "instruction",
        "space",
        "seed",
        "environments",
        "diary",
    }


def test_agent_cannot_reach_machine_task_or_runner(episode: Episode) -> None:
    episode.reset(make_task())
    forbidden = tuple(
        {type(machine) for machine in episode.oracle_context().machines.values()}
        | {type(runner) for runner in episode.oracle_context().runners.values()}
        | {type(make_task()), Episode}
    )
    seen: set[int] = set()
    waiting: list[object] = [episode.agent_context()]
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, type):
            continue
        seen.add(id(value))
        assert not isinstance(value, forbidden)
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting += value
        elif not callable(value):
            slots = [getattr(value, name, None) for name in getattr(value, "__slots__", ())]
            waiting += [*slots, *getattr(value, "__dict__", {}).values()]
    assert len(seen) > 50


def test_turns_are_limited_apart_from_actions(episode: Episode) -> None:
    limits = {"steps": 50, "seconds": 60.0, "turns": 2}
    episode.reset(make_task(limits=limits))
    assert not episode.step([MOVE, OPEN]).done
    last = episode.step([Action("fly", "desktop")])
    assert (last.done, last.reason) == (True, Reason.STEP_LIMIT)
    result = episode.close()
    assert (result.steps, result.detail) == (2, "2 turns were taken.")
