from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from foundation.errors import ToolMissingError
from foundation.settings import Settings
from provisioning.accelerator import detection as module
from provisioning.accelerator.detection import (
    RETRIED_WITHOUT,
    Accelerator,
    KvmState,
    accelerator_of,
    find_accelerator,
    known_accelerator,
    try_kvm,
)
from provisioning.accelerator.guest_program import EXIT_CODE, ROUNDS
from provisioning.accelerator.guest_run import GuestRun
from provisioning.accelerator.host_cpu import HostCpu

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

MSR = "qemu: error: failed to set MSR 0x10a to 0x69"


def whole(work_s: float) -> GuestRun:
    """A run whose guest did all its work."""
    rounds = [work_s * (number + 1) / (2 * ROUNDS) for number in range(2 * ROUNDS)]
    return GuestRun(EXIT_CODE, [], begun_s=0.2, rounds_s=rounds, waited_s=work_s)


TCG = whole(0.5)
KILLED = GuestRun(None, [], begun_s=7.0, rounds_s=[0.9], waited_s=2.0)
REFUSED = GuestRun(-6, ["qemu: warning: x", MSR])


def test_missing_device_is_distinguished(tmp_path: Path) -> None:
    accelerator = try_kvm(Settings(state_dir=tmp_path), device=tmp_path / "kvm")
    assert (accelerator.name, accelerator.state) == ("tcg", KvmState.MISSING)


def test_missing_permission_is_distinguished(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    device = tmp_path / "kvm"
    device.touch()

    def refuse(path: Path, mode: int) -> bool:
        return False

    monkeypatch.setattr("os.access", refuse)
    accelerator = try_kvm(Settings(state_dir=tmp_path), device=device)
    assert (accelerator.name, accelerator.state) == ("tcg", KvmState.DENIED)


@pytest.mark.parametrize(
    ("ran", "name", "state"),
    [
        (whole(0.1), "kvm", KvmState.WORKS),
        (whole(0.6), "tcg", KvmState.SLOW),
        (KILLED, "tcg", KvmState.SLOW),
        (GuestRun(None, []), "tcg", KvmState.HANGS),
        (REFUSED, "tcg", KvmState.REFUSED),
        (
            GuestRun(1, ["Could not access KVM kernel module: Permission denied"]),
            "tcg",
            KvmState.DENIED,
        ),
        (GuestRun(0, []), "tcg", KvmState.REFUSED),
        (dataclasses.replace(KILLED, exit_code=-6), "tcg", KvmState.REFUSED),
    ],
)
def test_guest_outcomes_are_distinguished(ran: GuestRun, name: str, state: KvmState) -> None:
    accelerator = accelerator_of(ran, TCG)
    assert (accelerator.name, accelerator.state) == (name, state)


def test_slow_kvm_is_reported_with_both_times() -> None:
    assert "takes 8.9 s for what software emulation does in 0.7 s" in (
        accelerator_of(whole(8.9), whole(0.7)).reason
    )
    reason = accelerator_of(KILLED, TCG).reason
    assert "does 1 of 20 rounds of work in 2.0 s; software emulation does all in 0.5 s" in reason


def test_kvm_without_a_run_under_tcg_to_compare_is_used() -> None:
    assert accelerator_of(whole(9.0), GuestRun(1, [])).state is KvmState.WORKS


@pytest.mark.parametrize(
    ("before", "kvm_s", "name"),
    [
        ("", 0.51, "tcg"),
        ("", 0.49, "kvm"),
        ("kvm", 0.9, "kvm"),
        ("kvm", 1.1, "tcg"),
        ("tcg", 0.3, "tcg"),
        ("tcg", 0.24, "kvm"),
    ],
)
def test_verdict_changes_only_if_the_new_one_is_clear(before: str, kvm_s: float, name: str) -> None:
    assert accelerator_of(whole(kvm_s), TCG, before=before).name == name


def test_cause_quotes_qemu_without_its_warnings() -> None:
    accelerator = accelerator_of(REFUSED, TCG)
    assert "failed to set MSR 0x10a" in accelerator.reason
    assert "warning" not in accelerator.reason


class Guests:
    """Runs of the test guest, as prepared for each CPU."""

    def __init__(self, *under_kvm: GuestRun) -> None:
        self.under_kvm = list(under_kvm)
        self.tried: list[tuple[str, tuple[str, ...]]] = []
        self.work_limits_s: list[float] = []

    def run(
        self,
        _settings: Settings,
        _device: Path,
        accelerator: str,
        without: Sequence[str] = (),
        *,
        boot_s: float,
        work_s: float,
    ) -> GuestRun:
        self.tried.append((accelerator, tuple(without)))
        if accelerator == "tcg":
            return TCG
        self.work_limits_s.append(work_s)
        return self.under_kvm.pop(0)


@pytest.fixture
def attempt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[Accelerator, Guests]]:
    device = tmp_path / "kvm"
    device.touch()

    def attempt(*under_kvm: GuestRun, before: str = "") -> tuple[Accelerator, Guests]:
        guests = Guests(*under_kvm)
        monkeypatch.setattr(module, "run_guest", guests.run)
        accelerator = try_kvm(Settings(state_dir=tmp_path), device=device, before=before)
        assert not guests.under_kvm
        return accelerator, guests

    return attempt


def test_refusal_is_retried_without_features_that_nested_hosts_refuse(
    attempt: Callable[..., tuple[Accelerator, Guests]],
) -> None:
    accelerator, guests = attempt(REFUSED, whole(0.1))
    assert guests.tried == [("tcg", ()), ("kvm", ()), ("kvm", RETRIED_WITHOUT)]
    assert (accelerator.name, accelerator.cpu_without) == ("kvm", ("arch-capabilities",))
    assert "without the CPU feature arch-capabilities" in accelerator.reason


def test_refusal_of_both_is_reported_as_the_first(
    attempt: Callable[..., tuple[Accelerator, Guests]],
) -> None:
    accelerator, _guests = attempt(REFUSED, GuestRun(1, ["another cause"]))
    assert accelerator.state is KvmState.REFUSED
    assert "0x10a" in accelerator.reason
    assert accelerator.kvm_without == ()


def test_slow_retry_keeps_the_features_for_users_who_require_kvm(
    attempt: Callable[..., tuple[Accelerator, Guests]],
) -> None:
    accelerator, _guests = attempt(REFUSED, KILLED)
    assert (accelerator.name, accelerator.state) == ("tcg", KvmState.SLOW)
    assert accelerator.kvm_without == RETRIED_WITHOUT
    assert accelerator.cpu_without == ()


def test_one_slow_run_may_be_an_accident(
    attempt: Callable[..., tuple[Accelerator, Guests]],
) -> None:
    assert attempt(whole(0.7), whole(0.2))[0].name == "kvm"
    assert attempt(whole(0.7), whole(0.8))[0].name == "tcg"
    assert attempt(KILLED)[0].state is KvmState.SLOW
    assert attempt(GuestRun(None, []), whole(0.2), before="kvm")[0].name == "kvm"


def test_guest_under_kvm_gets_the_time_that_decides_about_it(
    attempt: Callable[..., tuple[Accelerator, Guests]],
) -> None:
    (limit_s,) = attempt(whole(0.1))[1].work_limits_s
    assert 2.0 * TCG.work_s < limit_s < 5.0 * TCG.work_s


def test_without_qemu_nothing_is_concluded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_args: object, **_options: object) -> GuestRun:
        raise ToolMissingError("no QEMU")

    (tmp_path / "kvm").touch()
    monkeypatch.setattr(module, "run_guest", fail)
    accelerator = try_kvm(Settings(state_dir=tmp_path), device=tmp_path / "kvm")
    assert accelerator.state is KvmState.UNTRIED


class Tries:
    """Tests of KVM that return prepared results, the last one repeatedly."""

    def __init__(self) -> None:
        self.results = [Accelerator(name="kvm", reason="", state=KvmState.WORKS)]
        self.before: list[str] = []

    def __call__(self, _settings: Settings, *, before: str = "") -> Accelerator:
        self.before.append(before)
        return self.results[0] if len(self.results) == 1 else self.results.pop(0)


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> Tries:
    tries = Tries()
    monkeypatch.setattr(module, "try_kvm", tries)
    return tries


def test_detection_is_cached_for_later_commands(tmp_path: Path, tries: Tries) -> None:
    settings = Settings(state_dir=tmp_path)
    assert find_accelerator(settings) == find_accelerator(settings)
    assert len(tries.before) == 1
    find_accelerator(settings, ignore_cache=True)
    assert tries.before == ["", "kvm"]


CPU = HostCpu(model="EPYC", flags=("avx2", "fpu"), microcode="0x1", kernel="6.1.0")


@pytest.mark.parametrize(
    ("change", "is_tested_again"),
    [
        ({"microcode": "0x2"}, False),
        ({"kernel": "6.2.0"}, True),
        ({"flags": ("fpu",)}, True),
        ({"model": "Xeon"}, True),
    ],
)
def test_verdict_lasts_until_the_cpu_or_the_kernel_changes(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    tries: Tries,
    change: dict[str, Any],
    is_tested_again: bool,
) -> None:
    settings = Settings(state_dir=tmp_path)
    monkeypatch.setattr(module, "read_host_cpu", lambda: CPU)
    find_accelerator(settings)
    monkeypatch.setattr(module, "read_host_cpu", lambda: CPU.model_copy(update=change))
    find_accelerator(settings)
    assert tries.before == (["", "kvm"] if is_tested_again else [""])


def test_verdict_lasts_until_the_device_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tries: Tries
) -> None:
    device = tmp_path / "kvm"
    monkeypatch.setattr(module, "KVM_DEVICE", device)
    settings = Settings(state_dir=tmp_path)
    for mode in (None, 0o600, 0o600, 0o660):
        if mode:
            device.touch()
            device.chmod(mode)
        find_accelerator(settings)
    assert len(tries.before) == 3


def test_only_a_verdict_about_running_guests_is_kept_against_small_changes(
    tmp_path: Path, tries: Tries
) -> None:
    refused = Accelerator(name="tcg", reason="", state=KvmState.REFUSED)
    slow = Accelerator(name="tcg", reason="", state=KvmState.SLOW)
    tries.results = [refused, slow, slow]
    for _ in range(3):
        find_accelerator(Settings(state_dir=tmp_path), ignore_cache=True)
    assert tries.before == ["", "", "tcg"]


@pytest.mark.parametrize("text", ["{", '{"key": [], "accelerator": {}}'])
def test_damaged_cache_is_ignored(tmp_path: Path, tries: Tries, text: str) -> None:
    settings = Settings(state_dir=tmp_path)
    find_accelerator(settings)
    (tmp_path / "accelerator.json").write_text(text)
    find_accelerator(settings)
    assert len(tries.before) == 2


def test_settings_override_detection(tmp_path: Path, tries: Tries) -> None:
    accelerator = find_accelerator(Settings(state_dir=tmp_path, accelerator="tcg"))
    assert accelerator.name == "tcg"
    assert not tries.before


def test_required_kvm_gets_the_cpu_that_was_found_for_it(tmp_path: Path, tries: Tries) -> None:
    settings = Settings(state_dir=tmp_path, accelerator="kvm")
    tries.results = [
        Accelerator(name="tcg", reason="", state=KvmState.SLOW, kvm_without=RETRIED_WITHOUT)
    ]
    for _ in range(2):
        accelerator = find_accelerator(settings)
        assert (accelerator.name, accelerator.cpu_without) == ("kvm", RETRIED_WITHOUT)
    assert len(tries.before) == 1
    # In a container, where the device is not visible and QEMU is missing:
    cache = tmp_path / "accelerator.json"
    cache.write_text(json.dumps({**json.loads(cache.read_text()), "key": ["none"]}))
    assert find_accelerator(settings).cpu_without == RETRIED_WITHOUT
    assert len(tries.before) == 1


def test_container_without_the_device_leaves_no_result(tmp_path: Path, tries: Tries) -> None:
    settings = Settings(state_dir=tmp_path, accelerator="kvm")
    tries.results = [Accelerator(name="tcg", reason="", state=KvmState.MISSING)]
    assert find_accelerator(settings).cpu_without == ()
    assert not (tmp_path / "accelerator.json").exists()


def test_known_accelerator_is_never_tested(tmp_path: Path, tries: Tries) -> None:
    settings = Settings(state_dir=tmp_path)
    assert known_accelerator(settings) == ""
    assert known_accelerator(settings.model_copy(update={"accelerator": "kvm"})) == "kvm"
    assert not tries.before
    find_accelerator(settings)
    assert known_accelerator(settings) == "kvm"


def test_untried_kvm_is_not_cached(tmp_path: Path, tries: Tries) -> None:
    tries.results = [Accelerator(name="tcg", reason="", state=KvmState.UNTRIED)]
    find_accelerator(Settings(state_dir=tmp_path))
    assert not (tmp_path / "accelerator.json").exists()


def test_unwritable_state_folder_is_harmless(tmp_path: Path, tries: Tries) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    assert find_accelerator(Settings(state_dir=blocked)).name == "kvm"
