"""Tests that a trial is judged if the guest ended its desktop VM, but not if it ended from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.actions.space import Action
from controller.episode.context import RunContext
from controller.episode.episode import Episode
from controller.episode.result import Reason
from evaluators.graph.outcome import Verdict
from evaluators.model.task import Task
from foundation.settings import Settings, get_settings
from provisioning.desktop.qemu.connection import Hypervisor
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP, ResourceSpec
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from controller.episode.result import TrialResult

pytestmark = [pytest.mark.vm, pytest.mark.slow, NEEDS_APPLIANCE]

OPEN = Action("open_app", "desktop", {"name": "Terminal"})
WAIT = Action("wait", args={"seconds": 10.0})
DONE = Action("complete")
TASK = Task.model_validate(
    {
        "id": "dark",
        "instruction": "Switch the desktop to dark style.",
        "roles": {"desktop": "desktop"},
        "graph": [
            {
                "id": "dark",
                "on": "desktop",
                "check": "gsetting_equals",
                "with": {
                    "schema": "org.gnome.desktop.interface",
                    "key": "color-scheme",
                    "value": "prefer-dark",
                },
            }
        ],
        "limits": {"steps": 30, "seconds": 600.0, "repetitions": 30},
        "oracle": [{"do": "complete"}],
    }
)


def type_line(line: str) -> Action:
    return Action("type_text", "desktop", {"text": f"{line}\n"})


@pytest.fixture(scope="module")
def settings() -> Settings:
    return get_settings().model_copy(update={"desktop_reset": "fork", "desktop_pool": "0"})


@pytest.fixture(scope="module")
def context(settings: Settings) -> RunContext:
    fleet = LocalFleet(settings, say=print)
    fleet.prepare([ResourceSpec(DESKTOP)])
    return RunContext(fleet)


def play(episode: Episode, *actions: Action) -> TrialResult:
    """Carry out actions until the trial is over."""
    for action in actions:
        if episode.step([action]).done:
            break
    return episode.close()


SLOW = nightly("`make test` ends a guest in one way; each way takes a minute")


def kernel_key(letter: str) -> Action:
    """Return the magic SysRq keys, to which the kernel always responds."""
    return Action("key", "desktop", {"keys": ["alt", "Print", letter]})


def typed(verb: str) -> tuple[Action, ...]:
    return OPEN, type_line(f"systemctl {verb} -i")


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("acts", "patience"),
    [
        pytest.param((kernel_key("o"),), 1, id="kernel-off"),
        pytest.param(typed("poweroff"), 0, id="poweroff-at-once", marks=SLOW),
        pytest.param(typed("poweroff"), 12, id="poweroff-after-a-while", marks=SLOW),
        pytest.param(typed("reboot"), 0, id="reboot-at-once", marks=SLOW),
        pytest.param(typed("reboot"), 12, id="reboot-after-a-while", marks=SLOW),
    ],
)
def test_guest_ended_by_the_agent_is_judged(
    context: RunContext, acts: tuple[Action, ...], patience: int
) -> None:
    with Episode(context) as episode:
        episode.reset(TASK)
        result = play(episode, *acts, *[WAIT] * patience, DONE)
    outcome = (result.verdict, result.reason)
    assert outcome == (Verdict.FAIL, Reason.MACHINE_ENDED_BY_AGENT), result.detail
    assert "The guest" in result.detail


@SLOW
def test_session_ended_by_the_agent_is_judged(context: RunContext) -> None:
    with Episode(context) as episode:
        episode.reset(TASK)
        result = play(episode, OPEN, type_line("loginctl terminate-user $USER"), WAIT, DONE)
    assert result.verdict is Verdict.FAIL


HINDRANCES = {
    "its own processes": "kill -9 -1",
    "its window manager and bus": "killall -9 metacity gnome-panel dbus-daemon",
    "a fork bomb": "bomb() { bomb | bomb & }; bomb",
    "stopped processes": "kill -STOP -1",
    "sleep": "systemctl suspend -i; systemctl hibernate -i; systemctl hybrid-sleep -i",
    "memory": "for n in 1 2 3 4; do (while :; do "
    "python3 -c 'kept = []\nwhile True: kept.append(bytearray(1 << 20))'; done) & done",
    # Segments that no process has attached: killing a process frees none of them.
    "shared memory": "while :; do python3 -c 'import ctypes\nc = ctypes.CDLL(None)\n"
    "c.shmat.restype = ctypes.c_void_p\nwhile True:\n"
    " at = c.shmat(c.shmget(0, 1 << 24, 0o1600), None, 0)\n"
    " ctypes.memset(at, 1, 1 << 24)\n c.shmdt(ctypes.c_void_p(at))'; done &",
    "open files": "for n in $(seq 300); do python3 -c 'import time\nkept = []\ntry:\n"
    ' while True: kept.append(open("/dev/null"))\nexcept OSError: time.sleep(900)\' & done',
    "inodes": "mkdir many; cd many; seq 9999999 | xargs touch",
    "disk and temporary files": "for d in ~ /tmp; do cat /dev/zero > $d/full; done",
    "the login server": "for n in $(seq 400); do (exec 3<>/dev/tcp/127.0.0.1/22; sleep 900) & done",
}
"""Shell commands with which the agent's user can disrupt its desktop without being root."""


@SLOW
@pytest.mark.timeout(900)
@pytest.mark.parametrize("line", HINDRANCES.values(), ids=HINDRANCES.keys())
def test_agent_damage_to_its_desktop_is_judged(context: RunContext, line: str) -> None:
    """The trial must count, whether or not the machine responds afterwards."""
    with Episode(context) as episode:
        episode.reset(TASK)
        result = play(episode, OPEN, WAIT, type_line(line), *[WAIT] * 4, DONE)
    assert result.verdict is Verdict.FAIL, f"{result.reason}: {result.detail}"


@SLOW
@pytest.mark.timeout(900)
@pytest.mark.parametrize("letter", ["b", "c", "u"], ids=["restart", "panic", "read-only"])
def test_kernel_keys_are_attributed_to_the_agent(context: RunContext, letter: str) -> None:
    """A panic needs root or these keys, and the distributions' kernels do not panic on them."""
    with Episode(context) as episode:
        episode.reset(TASK)
        result = play(episode, OPEN, kernel_key(letter), *[WAIT] * 4, DONE)
    assert result.verdict is Verdict.FAIL, f"{result.reason}: {result.detail}"


def test_vm_destroyed_from_outside_is_no_agent_error(
    context: RunContext, settings: Settings
) -> None:
    with Episode(context) as episode:
        episode.reset(TASK)
        name = episode.oracle_context().machines["desktop"].info.machine_id
        other = Hypervisor(settings.libvirt_uri)
        other.destroy(name)
        other.close()
        result = play(episode, OPEN, DONE)
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.ENVIRONMENT_ERROR)
