"""Tasks as Gymnasium environments, against a service with machines in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import mesocosm.gym
from mesocosm import act
from mesocosm.client.errors import RequestError
from mesocosm.gym.spaces import fits
from tests.unit.mesocosm.live_service import LiveService, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

TERMINAL = act("open_app", "desktop", name="Terminal")
HELLO = act("type_text", "desktop", text="echo hello > note.txt\n")
STILL = "mesocosm/Still-v0"
"""The same environment, declared to be deterministic, as machines in memory are."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    gymnasium.register(STILL, entry_point="mesocosm.gym.environment:TaskEnv")
    with serving(tmp_path_factory.mktemp("service"), max_open=6) as live:
        yield live
        assert live.fleet.leased == 0
    del gymnasium.registry[STILL]


@pytest.fixture
def options(service: LiveService) -> dict[str, Any]:
    return {"url": service.url, "token": service.token}


@pytest.mark.parametrize("task", ["tiny/write-file", "smoke/cross-errand"])
def test_environment_passes_the_checker(task: str, options: dict[str, Any]) -> None:
    env = gymnasium.make(STILL, task=task, render_mode="rgb_array", **options)
    check_env(env.unwrapped)
    env.close()


def test_success_terminates_with_the_reward(options: dict[str, Any]) -> None:
    env = gymnasium.make("mesocosm/Task-v0", task="tiny/write-file", trees=True, **options)
    seen, info = env.reset(seed=7)
    assert info["instruction"].startswith("Write the word hello")
    assert seen["desktop"].shape == (200, 320, 3)
    assert any(element["name"] == "Terminal" for element in info["trees"]["desktop"])
    assert env.step([TERMINAL])[1:4] == (0.0, False, False)
    _, reward, terminated, truncated, info = env.step([HELLO])
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert (info["verdict"], info["is_valid"]) == ("PASS", True)
    env.close()


def test_limit_truncates_and_the_agents_own_end_terminates(options: dict[str, Any]) -> None:
    env = gymnasium.make("mesocosm/Task-v0", task="tiny/dark-style", **options)
    env.reset(seed=1)
    ends = [env.step([act("move", "desktop", x=number, y=1)])[1:] for number in range(8)]
    assert [end[1:3] for end in ends] == [(False, False)] * 7 + [(False, True)]
    assert ends[-1][3]["reason"] == "step_limit"
    assert ends[-1][3]["is_valid"]  # a verdict: FAIL
    env.reset()
    assert env.step([act("complete")])[1:4] == (0.0, True, False)
    env.close()


def test_wrong_use_has_clear_errors(options: dict[str, Any]) -> None:
    with gymnasium.make("mesocosm/Task-v0", task="tiny/write-file", **options).unwrapped as env:
        env.reset()
        with pytest.raises(RequestError, match="list of actions"):
            env.step(TERMINAL)
        env.step([act("complete")])
        with pytest.raises(gymnasium.error.ResetNeeded, match="is over: call reset"):
            env.step([TERMINAL])


def test_progress_rewards_each_node_once(options: dict[str, Any]) -> None:
    env = gymnasium.make("mesocosm/Task-v0", task="tiny/two-apps", reward="progress", **options)
    env.reset()
    names = ("Settings", "Settings", "Contacts")
    rewards = [env.step([act("open_app", "phone", name=name)])[1] for name in names]
    assert rewards == [0.5, 0.0, 0.5]
    env.close()


def test_faults_are_marked_invalid(service: LiveService, options: dict[str, Any]) -> None:
    env = gymnasium.make("mesocosm/Task-v0", task="tiny/write-file", **options)
    env.reset()
    for machine in service.fleet.machines.values():
        machine.power.stop()
    _, reward, terminated, truncated, info = env.step([TERMINAL])
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["is_valid"], info["fault"]) == (False, "infrastructure")
    env.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vectors_of_environments_run_side_by_side(mode: str, options: dict[str, Any]) -> None:
    envs = gymnasium.make_vec(
        "mesocosm/Task-v0",
        num_envs=2,
        vectorization_mode=mode,
        task="tiny/write-file",
        **options,
    )
    seen, _ = envs.reset(seed=3)
    assert seen["desktop"].shape == (2, 200, 320, 3)
    envs.step([[TERMINAL], [TERMINAL]])
    _, rewards, terminated, truncated, info = envs.step([[HELLO], [act("complete")]])
    assert rewards.tolist() == [1.0, 0.0]
    assert terminated.tolist() == [True, True]
    assert truncated.tolist() == [False, False]
    assert info["verdict"].tolist() == ["PASS", "FAIL"]
    assert envs.step([[TERMINAL], [TERMINAL]])[2].tolist() == [False, False]  # opened again
    envs.close()


def test_space_has_its_samples_and_nothing_else(options: dict[str, Any]) -> None:
    with mesocosm.connect(**options) as client, client.open("smoke/cross-errand") as env:
        space = mesocosm.gym.ActionList(env.actions, seed=1)
    samples = [space.sample() for _ in range(300)]
    assert all(sample in space for sample in samples)
    assert len({sample[0]["do"] for sample in samples}) > 10
    assert [{"do": "click", "on": "desktop", "with": {"x": np.int64(3), "y": 4}}] in space
    for wrong in (
        act("click", "desktop", x=3),
        act("click", "phone", x=3, y=4),
        act("click", "desktop", x=-1, y=4),
        act("click", "desktop", x=True, y=4),
        act("click", "desktop", x=1, y=4, z=1),
        act("open_app", "desktop", name=1),
    ):
        assert [wrong] not in space, wrong
    assert fits([1, 2], {"type": "array", "items": {"type": "integer"}, "maxItems": 2})
    assert not fits([1, 2, 3], {"type": "array", "items": {"type": "integer"}, "maxItems": 2})


def test_step_before_reset_is_refused(options: dict[str, Any]) -> None:
    env = mesocosm.gym.TaskEnv("tiny/write-file", **options)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([TERMINAL])
    env.close()
