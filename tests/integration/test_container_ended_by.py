"""Tests that a trial is judged if its agent exhausts or stops its desktop container."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from controller.actions.space import Action
from controller.episode.context import RunContext
from controller.episode.episode import Episode
from controller.episode.result import Reason
from evaluators.graph.outcome import Verdict
from foundation.errors import GuestCallError
from foundation.settings import Settings
from provisioning.desktop.container.engine import DesktopContainers
from provisioning.fleet.local import LocalFleet
from tests.integration.test_ended_by import DONE, TASK
from tests.standins.container import desktop_container_settings
from tests.tiers import nightly

if TYPE_CHECKING:
    from controller.episode.result import TrialResult

pytestmark = [pytest.mark.docker]

WAIT = Action("wait", args={"seconds": 5.0})
BOMB = "bomb() { bomb | bomb & }; bomb"
MEMORY = (
    "for n in 1 2 3 4; do (while :; do python3 -c 'kept = []\n"
    "while True: kept.append(bytearray(1 << 20))'; done) & done"
)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Return a separate appliance that reuses the built images and their SSH key."""
    state_dir, source_settings = tmp_path_factory.mktemp("state"), desktop_container_settings()
    for name, folder in (
        ("images", source_settings.images_dir),
        ("keys", source_settings.keys_dir),
    ):
        (state_dir / name).symlink_to(folder)
    return Settings(
        state_dir=state_dir,
        desktop="container",
        desktop_memory_mib=1536,
        desktop_reset="rewind",
        desktop_pool="0",
    )


@pytest.fixture(scope="module")
def context(settings: Settings) -> RunContext:
    return RunContext(LocalFleet(settings))


def play(context: RunContext, line: str) -> TrialResult:
    """Run a line as the agent's user, then carry out actions until the trial is over."""
    with Episode(context) as episode:
        episode.reset(TASK)
        machine = episode.oracle_context().machines["desktop"]
        # A fork bomb may leave no thread for the reply.
        with contextlib.suppress(GuestCallError):
            machine.run(["setsid", "--fork", "bash", "-c", line], timeout_s=20.0)
        for action in (WAIT, WAIT, DONE):
            if episode.step([action]).done:
                break
        return episode.close()


@nightly("what is looked for is tested without a container; each takes a minute")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "line",
    [
        pytest.param("kill -STOP -1", id="stopped"),
        pytest.param(BOMB, id="a fork bomb"),
        pytest.param("kill -9 -1", id="killed"),
        pytest.param("pkill -STOP Xvfb", id="a stopped X server"),
        pytest.param(MEMORY, id="memory"),
    ],
)
def test_agent_damage_to_its_container_is_judged(context: RunContext, line: str) -> None:
    result = play(context, line)
    assert result.verdict is Verdict.FAIL, f"{result.reason}: {result.detail}"


def test_container_killed_from_outside_is_no_agent_error(
    context: RunContext, settings: Settings
) -> None:
    with Episode(context) as episode:
        episode.reset(TASK)
        name = episode.oracle_context().machines["desktop"].info.machine_id
        DesktopContainers(settings.state_dir).stop(name)
        episode.step([DONE])
        result = episode.close()
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.ENVIRONMENT_ERROR)
