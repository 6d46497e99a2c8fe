"""Detects whether guests run under KVM by running one; otherwise TCG is used.

The existence of ``/dev/kvm`` proves little: it may deny access to this user, fail to create a virtual
CPU, or create one that never runs or runs slower than software emulation (observed where KVM itself is
nested and interprets unmodified kernels: 60 s for a twentieth of what TCG does in 0.5 s). So the guest
of `provisioning.accelerator.guest_program` is run with the CPU model that machines will use, and again
under TCG for comparison.

A refusal is retried with fewer CPU features (`RETRIED_WITHOUT`): nested AMD hosts announce
``arch-capabilities``, but fail to set its register (``failed to set MSR 0x10a``).
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.errors import MesocosmError, ToolMissingError
from foundation.files import digest_json, write_atomic
from provisioning.accelerator.guest_program import ROUNDS
from provisioning.accelerator.guest_run import GuestRun, run_guest
from provisioning.accelerator.host_cpu import read_host_cpu

if TYPE_CHECKING:
    from foundation.settings import Settings

KVM_DEVICE = Path("/dev/kvm")
BOOT_S = 20.0
"""Time limit until the guest's work begins; a working KVM needs about 0.1 s, an interpreting one 8 s."""

RETRIED_WITHOUT = ("arch-capabilities",)
"""CPU features that guests go without if the host refuses a virtual CPU that has them."""

SLOWDOWN_LIMITS = {"": 1.0, "kvm": 2.0, "tcg": 0.5}
"""How many times longer than TCG KVM may take, by the accelerator that this host had before: a small
change must not discard all machines, which are saved under one accelerator."""

_TCG_WORK_S = 40.0
_KVM_WORK_S = 20.0
_MARGIN_S = 0.5
_FILE = "accelerator.json"


class KvmState(StrEnum):
    """The result of running a guest under KVM."""

    WORKS = "works"
    MISSING = "missing"
    DENIED = "denied"
    REFUSED = "refused"
    HANGS = "hangs"
    SLOW = "slow"
    UNTRIED = "untried"


_UNSEEN = {KvmState.MISSING, KvmState.DENIED, KvmState.UNTRIED}
"""Results that say nothing about virtual CPUs, as in a container without the device."""


class Accelerator(BaseModel):
    """How machines run on this host.

    Attributes:
        name: ``kvm`` or ``tcg``; recorded with every result.
        reason: why it was chosen, one sentence.
        state: result of the KVM test; ``untried`` if the settings decide.
        kvm_without: CPU features that guests under KVM must not have on this host.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    reason: str
    state: KvmState
    kvm_without: tuple[str, ...] = ()

    @property
    def cpu_without(self) -> tuple[str, ...]:
        """Return the CPU features that machines must not have under this accelerator."""
        return self.kvm_without if self.name == "kvm" else ()


def find_accelerator(settings: Settings, *, ignore_cache: bool = False) -> Accelerator:
    """Return the accelerator of this host.

    The result is cached in the state folder until the KVM device, the CPU, its features or the kernel
    change, so that later calls are fast and a reboot keeps all machines.

    Args:
        settings: may set the accelerator.
        ignore_cache: whether to ignore the cached result and test again. The accelerator still
            changes only if the new result is clear.
    """
    if settings.accelerator == "tcg":
        return _required(settings)
    path = settings.state_dir / _FILE
    key = _host_key()
    cache = _read_cache(path)
    if settings.accelerator == "kvm":
        # In containers, the device is not visible, so that the key differs.
        known = cache.accelerator if cache else try_kvm(settings)
        if cache is None and known.state not in _UNSEEN:
            _write_cache(path, key, known)
        return _required(settings, known.kvm_without)
    if cache and cache.key == key and not ignore_cache:
        return cache.accelerator
    accelerator = try_kvm(settings, before=_name_before(cache))
    if accelerator.state is not KvmState.UNTRIED:
        _write_cache(path, key, accelerator)
    return accelerator


def known_accelerator(settings: Settings) -> str:
    """Return ``kvm`` or ``tcg`` without testing anything; empty if no test has been made yet."""
    if settings.accelerator != "auto":
        return settings.accelerator
    cache = _read_cache(settings.state_dir / _FILE)
    return cache.accelerator.name if cache else ""


def try_kvm(settings: Settings, *, device: Path = KVM_DEVICE, before: str = "") -> Accelerator:
    """Run the test guest under KVM and TCG, with the host's QEMU or the hypervisor image's.

    Args:
        settings: location of images.
        device: path of the KVM device.
        before: accelerator of this host until now, if guests under KVM ran: ``kvm`` or ``tcg``.
    """
    if not device.exists():
        return _fall_back(KvmState.MISSING, f"{device} does not exist.")
    if not os.access(device, os.R_OK | os.W_OK):
        return _fall_back(
            KvmState.DENIED, f"{device} exists, but this user has no permission to open it."
        )
    try:
        return _compared(settings, device, before)
    except ToolMissingError:
        return _fall_back(KvmState.UNTRIED, "QEMU is not available yet to test KVM.")
    except MesocosmError as exc:
        return _fall_back(KvmState.UNTRIED, f"KVM could not be tested: {exc.brief}")


def _compared(settings: Settings, device: Path, before: str) -> Accelerator:
    tcg = run_guest(settings, device, "tcg", boot_s=BOOT_S, work_s=_TCG_WORK_S)
    limit_s = _KVM_WORK_S
    if tcg.is_complete:
        limit_s = (max(SLOWDOWN_LIMITS.values()) + 1) * tcg.work_s + _MARGIN_S

    def run_without(names: tuple[str, ...]) -> tuple[GuestRun, Accelerator]:
        ran = run_guest(settings, device, "kvm", names, boot_s=BOOT_S, work_s=limit_s)
        return ran, accelerator_of(ran, tcg, names, before=before)

    ran, accelerator = run_without(())
    if accelerator.state is KvmState.REFUSED:
        ran, retried = run_without(RETRIED_WITHOUT)
        if retried.state is KvmState.REFUSED:
            return accelerator
        accelerator = retried
    # The cause may be a moment of load on the host.
    is_doubtful = ran.is_complete or before == "kvm"
    if accelerator.state in {KvmState.SLOW, KvmState.HANGS} and is_doubtful:
        again = run_without(accelerator.kvm_without)[1]
        return again if again.state is KvmState.WORKS else accelerator
    return accelerator


def accelerator_of(
    ran: GuestRun, tcg: GuestRun, without: tuple[str, ...] = (), *, before: str = ""
) -> Accelerator:
    """Return the accelerator that a run of the test guest under KVM implies.

    Args:
        ran: the run under KVM.
        tcg: a run under TCG to compare it with; one that is incomplete is ignored.
        without: CPU features that the guest under KVM did not have.
        before: accelerator of this host until now; it changes only if the result is clear.
    """
    if ran.begun_s is not None and (ran.is_complete or ran.exit_code is None):
        return _by_speed(ran, tcg, without, SLOWDOWN_LIMITS[before])
    if ran.exit_code is None:
        return _fall_back(
            KvmState.HANGS,
            f"KVM is accessible, but a guest under KVM did not get to work within {BOOT_S:g} s.",
            without,
        )
    lines = [line for line in ran.output if line and "warning" not in line]
    cause = lines[0] if lines else f"QEMU ended with exit code {ran.exit_code}"
    if "permission denied" in cause.lower():
        return _fall_back(KvmState.DENIED, f"QEMU has no permission to open KVM: {cause}.")
    return _fall_back(
        KvmState.REFUSED, f"KVM is accessible, but cannot create a virtual CPU: {cause}."
    )


def _by_speed(ran: GuestRun, tcg: GuestRun, without: tuple[str, ...], limit: float) -> Accelerator:
    if ran.is_complete and not (tcg.is_complete and ran.work_s > limit * tcg.work_s):
        left_out = f", without the CPU feature {', '.join(without)}" if without else ""
        speed = f" in {ran.work_s:.2f} s; TCG needs {tcg.work_s:.2f} s" if tcg.is_complete else ""
        return Accelerator(
            name="kvm",
            reason=f"A guest did its work under KVM{left_out}{speed}.",
            state=KvmState.WORKS,
            kvm_without=without,
        )
    if ran.is_complete:
        took = f"takes {ran.work_s:.1f} s for what software emulation does in {tcg.work_s:.1f} s"
    else:
        took = f"does {len(ran.rounds_s)} of {2 * ROUNDS} rounds of work in {ran.work_s:.1f} s"
        took += f"; software emulation does all in {tcg.work_s:.1f} s" if tcg.is_complete else ""
    return _fall_back(KvmState.SLOW, f"KVM runs guests, but {took}.", without)


def _required(settings: Settings, without: tuple[str, ...] = ()) -> Accelerator:
    return Accelerator(
        name=settings.accelerator,
        reason="It is set by MESOCOSM_ACCELERATOR.",
        state=KvmState.UNTRIED,
        kvm_without=without,
    )


def _fall_back(state: KvmState, cause: str, without: tuple[str, ...] = ()) -> Accelerator:
    reason = f"{cause} Software emulation (TCG) is used."
    return Accelerator(name="tcg", reason=reason, state=state, kvm_without=without)


class _Cache(BaseModel):
    """A cached result and the host state that it is valid for."""

    key: list[str]
    accelerator: Accelerator


def _host_key() -> list[str]:
    """Return the host state that must not change for a cached result to be valid."""
    cpu = read_host_cpu()
    device = "none"
    if KVM_DEVICE.exists():
        status = KVM_DEVICE.stat()
        device = f"{status.st_mode:o} {status.st_rdev}"
    return [device, str(os.geteuid()), cpu.kernel, digest_json([cpu.model, *cpu.flags])]


def _name_before(cache: _Cache | None) -> str:
    """Return the accelerator of this host until now, if guests ran under KVM; empty if unknown."""
    if cache is None or cache.accelerator.state not in {KvmState.WORKS, KvmState.SLOW}:
        return ""
    return cache.accelerator.name


def _read_cache(path: Path) -> _Cache | None:
    try:
        return _Cache.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _write_cache(path: Path, key: list[str], accelerator: Accelerator) -> None:
    try:
        write_atomic(path, _Cache(key=key, accelerator=accelerator).model_dump_json())
    except OSError:
        return  # if the state folder is not writable, the next call only tests again
