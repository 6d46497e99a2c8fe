"""Tests on a real engine that a killed container and a missing hypervisor are shown within seconds."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import docker
import pytest

from foundation.clock import wait_until
from foundation.errors import ImageError, RequirementError
from foundation.ids import new_machine_id
from foundation.settings import Settings
from images.builder import find
from provisioning.container_names import LABEL_STATE
from provisioning.fleet import liveness as module
from provisioning.fleet.liveness import (
    ENDED,
    EVERY_S,
    RECHECK_DELAY_S,
    LivenessWatch,
    open_liveness,
)
from provisioning.machine_folder import MachineFolder
from provisioning.machine_state import MachineState
from tests.standins.records import desktop_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker.models.containers import Container

pytestmark = [pytest.mark.docker, pytest.mark.phone]

SHOWN_S = 5.0


@pytest.fixture
def machine_id() -> str:
    return new_machine_id("alive")


@pytest.fixture
def container(
    tmp_path: Path, machine_id: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Container]:
    """Run a container that is a machine of an appliance in `tmp_path`."""
    monkeypatch.setattr(module, "container_name", lambda name: f"op-{name}")
    try:
        image = find("phone", Settings()).tag or ""
    except (ImageError, RequirementError) as exc:
        pytest.skip(str(exc))
    with contextlib.closing(docker.from_env()) as client:
        made = client.containers.run(
            image,
            entrypoint=["sleep", "600"],
            name=f"op-{machine_id}",
            labels={LABEL_STATE: str(tmp_path)},
            network_mode="none",
            detach=True,
        )
        try:
            yield made
        finally:
            made.remove(force=True)


def test_killed_machine_is_reported_within_five_seconds(
    tmp_path: Path, machine_id: str, container: Container
) -> None:
    settings = Settings(state_dir=tmp_path)
    folder = MachineFolder(settings.machines_dir / machine_id)
    folder.write(desktop_record(machine_id, "container", state=MachineState.READY))

    def state() -> str:
        return watch.latest().machines[0].state

    with LivenessWatch(open_liveness(settings)) as watch:
        assert wait_until(lambda: watch.latest().machines, timeout_s=30.0)
        assert state() == "ready"
        assert watch.latest().hosts["docker"] == ""
        assert "libvirt-sock" in watch.latest().hosts["hypervisor"]
        container.kill()
        assert wait_until(lambda: state() == ENDED, timeout_s=60.0, every_s=0.05)
    watch.join()
    # Two checks and the delay of the second check, without delays of a busy host.
    assert EVERY_S + RECHECK_DELAY_S <= SHOWN_S / 2
