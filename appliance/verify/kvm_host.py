"""Facts about this host that decide how desktops run on it, and checks of its KVM."""

from __future__ import annotations

import importlib.metadata
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import MachineError, MesocosmError
from images.engine import connect
from provisioning.accelerator.detection import (
    BOOT_S,
    KVM_DEVICE,
    SLOWDOWN_LIMITS,
    KvmState,
    find_accelerator,
    try_kvm,
)
from provisioning.accelerator.guest_run import run_guest
from provisioning.accelerator.host_cpu import read_host_cpu
from provisioning.desktop.qemu.connection import Hypervisor
from provisioning.fleet.allocation import memory_mib

if TYPE_CHECKING:
    from foundation.settings import Settings

_WORK_S = 40.0
_NESTED = (
    Path("/sys/module/kvm_intel/parameters/nested"),
    Path("/sys/module/kvm_amd/parameters/nested"),
)


def check_accelerator(settings: Settings) -> str:
    """Return how this host runs guests.

    Args:
        settings: with the accelerator to verify; ``auto`` means KVM.

    Raises:
        MachineError: KVM is wanted, and this host does not run guests under it fast enough.
    """
    if settings.accelerator == "tcg":
        return "software emulation (TCG), as requested"
    accelerator = (
        try_kvm(settings, before="kvm")
        if settings.accelerator == "kvm"
        else find_accelerator(settings, ignore_cache=True)
    )
    if accelerator.state is not KvmState.WORKS:
        raise MachineError(
            "Desktops cannot run under KVM here.",
            accelerator.reason,
            "Use another host or type of instance, or keep software emulation, which needs no setting.",
        )
    return accelerator.reason


def check_speed(settings: Settings) -> str:
    """Compare the work of a small 64-bit guest with the same work under TCG.

    Args:
        settings: with the accelerator to verify.

    Raises:
        MachineError: it is slower than TCG, beyond what load of the host explains.
        MesocosmError: the guest cannot be run.
    """
    accelerator = find_accelerator(settings)
    name = "tcg" if settings.accelerator == "tcg" else "kvm"
    tcg = run_guest(settings, KVM_DEVICE, "tcg", boot_s=BOOT_S, work_s=_WORK_S)
    ran = run_guest(
        settings, KVM_DEVICE, name, accelerator.kvm_without, boot_s=BOOT_S, work_s=_WORK_S
    )
    if not tcg.is_complete or not ran.is_complete:
        raise MachineError("The test guest did not do its work.", " ".join(ran.output)[:200])
    times = f"{name.upper()} {ran.work_s:.2f} s, TCG {tcg.work_s:.2f} s"
    if ran.work_s > SLOWDOWN_LIMITS["kvm"] * tcg.work_s:
        raise MachineError(f"The test guest is too slow: {times}.")
    return f"{times} for the same work: {tcg.work_s / ran.work_s:.1f} times as fast"


def host_facts(settings: Settings) -> dict[str, str]:
    """Return facts for a report that users send: nothing names the host, its users or addresses."""
    cpu = read_host_cpu()
    total_mib, available_mib = memory_mib()
    accelerator = find_accelerator(settings)
    without = ", ".join(accelerator.kvm_without)
    return {
        "Mesocosm": importlib.metadata.version("mesocosm"),
        "CPU": f"{os.cpu_count() or 1} x {cpu.model or 'unknown'}",
        "microcode": cpu.microcode or "unknown",
        "kernel": cpu.kernel,
        "system": _system(),
        "in a virtual machine": "yes" if "hypervisor" in cpu.flags else "no",
        "nested KVM": _nested(),
        "memory": f"{total_mib} MiB, {available_mib} MiB available",
        "KVM device": _device(),
        "accelerator": accelerator.name,
        "CPU features that KVM refuses": without or "none known",
        "desktops": f"{settings.desktop_memory_mib} MiB, {settings.desktop_cpus} CPUs",
        **_versions(settings),
        "CPU flags": " ".join(cpu.flags),
    }


def _system(release: Path = Path("/etc/os-release")) -> str:
    try:
        match = re.search(r'^PRETTY_NAME="?(.*?)"?$', release.read_text(), flags=re.MULTILINE)
    except OSError:
        return "unknown"
    return match[1] if match else "unknown"


def _nested() -> str:
    values = [path.read_text().strip() for path in _NESTED if path.is_file()]
    return ", ".join(values) or "unknown: KVM's module has no such parameter"


def _device() -> str:
    if not KVM_DEVICE.exists():
        return "none"
    return f"mode {KVM_DEVICE.stat().st_mode & 0o777:o}"


def _versions(settings: Settings) -> dict[str, str]:
    """Return the versions of what runs desktops, as far as they answer."""
    versions: dict[str, str] = {}
    try:
        versions |= Hypervisor(settings.libvirt_uri).version()
    except MesocosmError as exc:
        versions["hypervisor"] = exc.brief
    try:
        with connect() as client:
            versions["Docker"] = str(client.version()["Version"])
    except MesocosmError as exc:
        versions["Docker"] = exc.brief
    return versions
