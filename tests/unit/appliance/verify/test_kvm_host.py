from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from appliance.verify import kvm_host as module
from appliance.verify.kvm_host import check_accelerator, check_speed, host_facts
from foundation.errors import MachineError, RequirementError
from foundation.settings import Settings
from provisioning.accelerator.detection import Accelerator, KvmState
from provisioning.accelerator.guest_program import EXIT_CODE, ROUNDS
from provisioning.accelerator.guest_run import GuestRun

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WORKS = Accelerator(
    name="kvm", reason="It works.", state=KvmState.WORKS, kvm_without=("arch-capabilities",)
)
SLOW = Accelerator(name="tcg", reason="KVM is slow.", state=KvmState.SLOW)


def whole(work_s: float) -> GuestRun:
    return GuestRun(EXIT_CODE, [], 0.1, [work_s] * (2 * ROUNDS), work_s)


@pytest.fixture
def detect(monkeypatch: pytest.MonkeyPatch) -> list[Accelerator]:
    """The accelerators that are found from now on; the last one repeatedly."""
    found = [WORKS]

    def find(_settings: Settings, **_options: object) -> Accelerator:
        return found[-1]

    monkeypatch.setattr(module, "find_accelerator", find)
    monkeypatch.setattr(module, "try_kvm", find)
    return found


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch) -> dict[str, GuestRun]:
    """The runs of the test guest, by accelerator."""
    runs = {"tcg": whole(0.6), "kvm": whole(0.05)}

    def run(
        _settings: Settings, _device: Path, name: str, without: Sequence[str] = (), **_limits: float
    ) -> GuestRun:
        assert name == "tcg" or without == ("arch-capabilities",)
        return runs[name]

    monkeypatch.setattr(module, "run_guest", run)
    return runs


@pytest.mark.parametrize("accelerator", ["auto", "kvm"])
def test_unusable_kvm_fails_and_is_explained(
    tmp_path: Path, detect: list[Accelerator], accelerator: str
) -> None:
    settings = Settings(state_dir=tmp_path).model_copy(update={"accelerator": accelerator})
    assert check_accelerator(settings) == "It works."
    detect.append(SLOW)
    with pytest.raises(MachineError) as failure:
        check_accelerator(settings)
    assert failure.value.details == "KVM is slow."


@pytest.mark.usefixtures("detect")
def test_tcg_is_verified_only_on_request(tmp_path: Path) -> None:
    assert "TCG" in check_accelerator(Settings(state_dir=tmp_path, accelerator="tcg"))


@pytest.mark.usefixtures("detect")
def test_speed_is_that_beside_tcg(tmp_path: Path, guests: dict[str, GuestRun]) -> None:
    settings = Settings(state_dir=tmp_path)
    assert check_speed(settings) == ("KVM 0.05 s, TCG 0.60 s for the same work: 12.0 times as fast")
    guests["kvm"] = whole(1.3)
    with pytest.raises(MachineError, match="too slow: KVM 1"):
        check_speed(settings)
    guests["kvm"] = GuestRun(None, ["qemu: error"], 0.1)
    with pytest.raises(MachineError, match="did not do its work"):
        check_speed(settings)
    assert "1.0 times" in check_speed(Settings(state_dir=tmp_path, accelerator="tcg"))


@pytest.mark.usefixtures("detect")
def test_facts_do_not_identify_the_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Silent:
        def __init__(self, uri: str) -> None:
            assert uri

        def version(self) -> dict[str, str]:
            raise RequirementError("The hypervisor does not answer.")

    def no_engine() -> None:
        raise RequirementError("Docker does not answer.")

    monkeypatch.setattr(module, "Hypervisor", Silent)
    monkeypatch.setattr(module, "connect", no_engine)
    facts = host_facts(Settings(state_dir=tmp_path))
    assert facts["kernel"] == os.uname().release
    assert facts["CPU features that KVM refuses"] == "arch-capabilities"
    assert facts["hypervisor"] == "The hypervisor does not answer."
    assert facts["Docker"] == "Docker does not answer."
    text = "\n".join(facts.values())
    assert os.uname().nodename not in text.split()
    assert str(tmp_path) not in text
