"""Checks of the hardware: CPU, KVM, memory, disk."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.doctor.check import Finding, State
from provisioning.accelerator.detection import KVM_DEVICE, KvmState, find_accelerator, try_kvm

if TYPE_CHECKING:
    from foundation.settings import Settings
    from provisioning.accelerator.detection import Accelerator

MIN_DISK_BYTES = 15 << 30
MIN_MEMORY_BYTES = 6 << 30
_MEMORY_SLACK_BYTES = 512 << 20  # firmware and kernel keep some of the nominal size
_TCG = (
    "This is optional: without KVM, machines run in software emulation (TCG), several times slower."
)

KVM_RESOLUTIONS = {
    KvmState.MISSING: "Enable VT-x or AMD-V in the firmware, or nested virtualisation if this host "
    f"is a VM itself; load the module kvm_intel or kvm_amd. {_TCG}",
    KvmState.DENIED: f"Run as root, or join the group that owns {KVM_DEVICE}. {_TCG}",
    KvmState.REFUSED: "The underlying host provides incomplete virtualisation (often nested, "
    f"inside a container or micro VM): use another host. {_TCG}",
    KvmState.HANGS: "The underlying host provides virtualisation whose guests never run: fix nested "
    f"virtualisation there, or use another host. {_TCG}",
    KvmState.SLOW: "The underlying host emulates virtualisation: provide hardware or better nested "
    f"virtualisation. {_TCG}",
    KvmState.UNTRIED: f"Run `make up`, which installs QEMU, then this command again. {_TCG}",
}


def check_cpu(settings: Settings, *, cpuinfo: Path = Path("/proc/cpuinfo")) -> Finding:
    """Look for the CPU's virtualisation extensions."""
    del settings
    flags = set(re.findall(r"\b(?:vmx|svm)\b", cpuinfo.read_text()))
    cores = os.cpu_count() or 1
    if not flags:
        return Finding(
            State.WARN,
            f"{cores} cores; the CPU has neither VT-x (vmx) nor AMD-V (svm).",
            KVM_RESOLUTIONS[KvmState.MISSING],
        )
    return Finding(State.OK, f"{cores} cores with {'/'.join(sorted(flags))}.")


def check_kvm(settings: Settings, *, device: Path = KVM_DEVICE) -> Finding:
    """Boot a test guest under KVM, and save the result for all other commands."""
    forced = settings.accelerator != "auto"
    at_default = device == KVM_DEVICE and not forced
    accelerator = (
        find_accelerator(settings, ignore_cache=True)
        if at_default
        else try_kvm(settings, device=device)
    )
    return judge_kvm(accelerator, settings)


def check_kept_kvm(settings: Settings) -> Finding:
    """Return the last result for KVM; boot a test guest only if there is none."""
    return judge_kvm(find_accelerator(settings), settings)


def judge_kvm(accelerator: Accelerator, settings: Settings) -> Finding:
    """Return the finding about an accelerator."""
    if accelerator.state is KvmState.WORKS:
        forced = settings.accelerator != "auto"
        note = f" The settings require {settings.accelerator}." if forced else ""
        return Finding(State.OK, accelerator.reason + note)
    if settings.accelerator == "kvm":
        return Finding(State.FAILED, accelerator.reason, "Set MESOCOSM_ACCELERATOR=auto.")
    return Finding(State.WARN, accelerator.reason, KVM_RESOLUTIONS[accelerator.state])


def check_memory(
    settings: Settings, *, meminfo: Path = Path("/proc/meminfo"), needed: int = MIN_MEMORY_BYTES
) -> Finding:
    """Check that the memory is sufficient for a desktop, a phone and the services."""
    del settings
    rows = dict(re.findall(r"^(\w+):\s+(\d+) kB$", meminfo.read_text(), flags=re.MULTILINE))
    total, free = int(rows["MemTotal"]) << 10, int(rows["MemAvailable"]) << 10
    text = f"{_gib(total)} of memory, {_gib(free)} available; {_gib(needed)} required."
    if total + _MEMORY_SLACK_BYTES < needed:
        return Finding(State.FAILED, text, "Add memory to this host.")
    if free < needed // 2:
        return Finding(
            State.WARN, text, "Stop programs that use it; otherwise machines may be killed."
        )
    return Finding(State.OK, text)


def check_disk(settings: Settings, *, needed: int = MIN_DISK_BYTES) -> Finding:
    """Check that the state folder's disk has enough free space for images and overlays."""
    folder = settings.state_dir
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    built = any(settings.images_dir.glob("desktop/*/manifest.json"))
    wanted = needed // 3 if built else needed
    free = shutil.disk_usage(folder).free
    text = f"{_gib(free)} free for {settings.state_dir}; {_gib(wanted)} required."
    if free < wanted:
        return Finding(
            State.FAILED,
            text,
            "Free some space, or set MESOCOSM_STATE_DIR to a folder on a larger disk.",
        )
    if not os.access(folder, os.W_OK):
        return Finding(
            State.FAILED,
            f"This user may not write {folder}.",
            "Run as root, or set MESOCOSM_STATE_DIR to a folder that you own.",
        )
    return Finding(State.OK, text)


def _gib(count: int) -> str:
    return f"{count / (1 << 30):.1f} GiB"
