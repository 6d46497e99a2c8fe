from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from foundation.settings import Settings
from provisioning.accelerator import detection
from provisioning.accelerator.detection import Accelerator, KvmState, find_accelerator
from provisioning.fleet.reset_choice import forks_first
from provisioning.fleet.warm_pool import kept_pool_size

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, False),
        ({"accelerator": "kvm"}, True),
        ({"accelerator": "tcg"}, False),
        ({"accelerator": "kvm", "desktop": "container"}, False),
        ({"accelerator": "kvm", "desktop_reset": "rewind"}, False),
        ({"accelerator": "tcg", "desktop_reset": "fork"}, True),
    ],
)
def test_desktops_are_forked_by_default_under_kvm_only(
    tmp_path: Path, values: dict[str, Any], expected: bool
) -> None:
    settings = Settings(state_dir=tmp_path, desktop_pool="3", **values)
    assert forks_first(settings) is expected
    assert kept_pool_size(settings) == (3 if expected else 0)


def test_found_accelerator_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def works(_settings: Settings, **_options: object) -> Accelerator:
        return Accelerator(name="kvm", reason="", state=KvmState.WORKS)

    monkeypatch.setattr(detection, "try_kvm", works)
    settings = Settings(state_dir=tmp_path)
    assert not forks_first(settings)
    find_accelerator(settings)
    assert forks_first(settings)
