from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup.preflight import machine_images
from appliance.cli import main as cli
from foundation.settings import Settings
from provisioning.resource import DESKTOP, PHONE, ResourceSpec

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("desktop", "specs", "names"),
    [
        ("vm", [ResourceSpec(DESKTOP), ResourceSpec(PHONE)], ["hypervisor", "desktop", "phone"]),
        ("container", [ResourceSpec(DESKTOP)], ["desktop-container"]),
        ("remote", [ResourceSpec(DESKTOP)], []),
        ("vm", [ResourceSpec(PHONE)], ["phone"]),
        (
            "vm",
            [ResourceSpec(DESKTOP, "debian-12"), ResourceSpec(DESKTOP)],
            ["hypervisor", "desktop", "desktop:debian-12"],
        ),
    ],
)
def test_only_images_of_needed_machines_are_required(
    desktop: str, specs: list[ResourceSpec], names: list[str]
) -> None:
    settings = Settings().model_copy(update={"desktop": desktop})
    assert machine_images(settings, specs) == names


@pytest.mark.libvirt
def test_run_is_rejected_before_its_first_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("MESOCOSM_DISTRIBUTION", "debian-12")
    assert cli.main(["run", "smoke", "--agent", "noop", "--task", "cross-dark-style"]) == 3
    output = capsys.readouterr().err
    assert "desktop:debian-12 is missing. It was never built on this host." in output
    assert "--build" in output
    assert not (tmp_path / "runs").exists()
