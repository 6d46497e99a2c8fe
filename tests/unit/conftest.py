from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from foundation import host_load
from foundation.settings import get_settings
from provisioning.fake.machine import FakeMachine

if TYPE_CHECKING:
    from collections.abc import Iterator

# It is compiled: `make test-fast` also runs where its headers are missing.
collect_ignore = (
    []
    if find_spec("libvirt")
    else [
        "provisioning/desktop/qemu/test_connection.py",
        "provisioning/desktop/qemu/test_lifecycle.py",
        "provisioning/desktop/qemu/test_screenshot.py",
        "provisioning/desktop/qemu/test_starting.py",
        "provisioning/desktop/test_stamps.py",
        "provisioning/fleet/test_liveness.py",
    ]
)

# Times on a busy host are no evidence about an example; pytest-timeout limits each test.
settings.register_profile("unit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unit")


@pytest.fixture(autouse=True)
def _own_state(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Keep unit tests away from the state folder and settings of an appliance on this host."""
    for name in [name for name in os.environ if name.startswith("MESOCOSM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path_factory.getbasetemp() / "state"))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


@pytest.fixture(autouse=True)
def _idle_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep time limits as they are: on a busy host they are stretched."""
    monkeypatch.setattr(host_load, "slowdown_ratio", lambda: 1.0)


@pytest.fixture(autouse=True)
def _still_screens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the quarter of a second that steps watch a screen for, on fake machines.

    Other tests, and the processes that unit tests start, watch it.
    """
    monkeypatch.setattr(FakeMachine, "reports_stillness", True)
