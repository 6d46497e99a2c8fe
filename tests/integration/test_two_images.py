"""Desktops of two images at once: one trial on Ubuntu 22.04 and Debian 12, rewound and forked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.agents.oracle import OracleDriver
from controller.episode.context import RunContext
from controller.episode.episode import Episode
from controller.episode.trial import run_trial
from evaluators.graph.outcome import Verdict
from evaluators.model.task import Task
from foundation.settings import get_settings
from images.builder import ensure
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP, ResourceSpec
from tests.standins.appliance import NEEDS_APPLIANCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.protocols import Machine

IMAGES = {"left": "ubuntu-22.04", "right": "debian-12"}
ROLES = {role: ResourceSpec(DESKTOP, image) for role, image in IMAGES.items()}
_BUILD_S = 1500
_DARK = {"schema": "org.gnome.desktop.interface", "key": "color-scheme", "value": "prefer-dark"}
_SET = "gsettings set org.gnome.desktop.interface color-scheme prefer-dark\n"

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    pytest.mark.timeout(2 * _BUILD_S),
    pytest.mark.xdist_group("debian-12"),
    NEEDS_APPLIANCE,
]


def _steps(role: str) -> list[dict[str, object]]:
    front = {"on": role, "check": "window_in_front", "with": {"app": "Gnome-terminal"}}
    return [
        {"on": role, "do": "open_app", "with": {"name": "Terminal"}},
        {"wait_for": front, "seconds": 90},
        {"on": role, "do": "type_text", "with": {"text": _SET}},
        {"wait_for": {"on": role, "check": "gsetting_equals", "with": _DARK}, "seconds": 60},
    ]


TASK = Task.model_validate(
    {
        "id": "both-dark",
        "instruction": "Switch both desktops to dark style.",
        "roles": {role: {"kind": DESKTOP, "image": image} for role, image in IMAGES.items()},
        "graph": [
            {"id": role, "on": role, "check": "gsetting_equals", "with": _DARK} for role in IMAGES
        ],
        "limits": {"steps": 20, "seconds": 900.0},
        "oracle": [*_steps("left"), *_steps("right"), {"do": "complete"}],
    }
)


@pytest.fixture(scope="module", params=["rewind", "fork"])
def path(request: pytest.FixtureRequest) -> str:
    """Return how desktops are reset."""
    return str(request.param)


@pytest.fixture(scope="module")
def fleet(path: str) -> Iterator[LocalFleet]:
    """Yield a fleet that makes and resets desktops of both images."""
    update = {"desktop": "vm", "desktop_reset": path, "desktop_pool": "0"}
    settings = get_settings().model_copy(update=update)
    for image in IMAGES.values():
        ensure(f"desktop:{image}", settings)
    one = LocalFleet(settings, say=print)
    one.prepare(list(ROLES.values()))
    yield one
    one.wait_for_jobs()


def distribution(machine: Machine) -> str:
    code = '. /etc/os-release; echo -n "$ID-$VERSION_ID"'
    return machine.run(["/bin/sh", "-c", code]).require().stdout.decode()


def test_each_role_gets_a_desktop_of_its_image(fleet: LocalFleet, path: str) -> None:
    with fleet.acquire(ROLES) as lease:
        for _ in range(2):
            environment = lease.environment
            # Another test may have leased the one desktop of `left`, which is then forked.
            paths = {role: report.path for role, report in environment.resets.items()}
            assert paths["right"] == path
            assert paths["left"] in {path, "fork"}
            for role, machine in environment.machines.items():
                assert machine.info.image == f"desktop:{IMAGES[role]}"
                assert distribution(machine) == IMAGES[role]
                assert machine.run(["/usr/bin/test", "-e", "dirt"]).exit_code == 1
                machine.run(["/usr/bin/touch", "dirt"]).require()
            lease.reset()


def test_the_oracle_passes_a_trial_on_both(fleet: LocalFleet) -> None:
    result = run_trial(Episode(RunContext(fleet)), TASK, OracleDriver())
    assert result.verdict is Verdict.PASS, result.detail
    assert {machine.role: machine.image for machine in result.machines} == {
        role: f"desktop:{image}" for role, image in IMAGES.items()
    }
