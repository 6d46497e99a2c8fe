"""What the backend of phones checks before a run, and what it tells the engine."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from foundation.errors import RequirementError
from foundation.settings import Settings
from provisioning.phone.profile import EMULATOR, REFERENCE
from provisioning.phone.reference import backend
from provisioning.phone.reference.backend import PhoneBackend

if TYPE_CHECKING:
    from pathlib import Path


def test_run_is_refused_on_a_host_without_the_phones_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "require_engine", lambda: None)
    settings = Settings(state_dir=tmp_path)
    PhoneBackend(settings, REFERENCE).require_host()
    profile = dataclasses.replace(EMULATOR, devices=(tmp_path / "kvm",))
    with pytest.raises(RequirementError, match="which this host lacks"):
        PhoneBackend(settings, profile).require_host()


def test_emulator_has_time_to_end_and_a_volume_of_its_own() -> None:
    assert EMULATOR.stop_timeout_s >= 30
    assert (EMULATOR.is_suspended, EMULATOR.saved) == (True, "saved")
    assert "getprop debug.mesocosm.saved" in EMULATOR.digest_commands
    assert not REFERENCE.is_suspended
