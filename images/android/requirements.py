"""What the emulator needs of its host and user, each with a cause and a resolution."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import RequirementError
from images.engine import connect

if TYPE_CHECKING:
    from foundation.settings import Settings

KVM = Path("/dev/kvm")
USER = 2000
"""User of the container, which must be able to open KVM."""
LICENCE = "https://developer.android.com/studio/terms"
MEMORY_MIB = 6144
"""Memory limit of one emulator's container, MiB."""
MIN_ENGINE_BYTES = 30 << 30
"""Free space for the layers of the build, and for the volume of a first phone."""
MIN_STATE_BYTES = 10 << 30
"""Free space for the saved virtual device."""
_SLACK_MIB = 2048
# Source: "CPU acceleration" of the emulator's requirements: x86-64 with SSSE3, SSE4.1, SSE4.2, POPCNT.
_FLAGS = ("lm", "ssse3", "sse4_1", "sse4_2", "popcnt")
_REFERENCE = "Use the reference phone, which needs none of this: MESOCOSM_PHONE=reference."


def require_licence(settings: Settings) -> str:
    """Check that the user has accepted Google's licence; return how.

    Raises:
        RequirementError: it was not accepted.
    """
    if not settings.accept_android_sdk_licence:
        raise RequirementError(
            "The licence of Google's Android SDK has not been accepted.",
            details=f"The emulator and its system images belong to Google; read {LICENCE}.",
            resolution="Set MESOCOSM_ACCEPT_ANDROID_SDK_LICENCE=1, or run `mesocosm image build "
            "android --accept-android-sdk-licence`.",
        )
    return "accepted by the settings"


def require_cpu(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Check the CPU's instructions; return its model.

    Raises:
        RequirementError: the emulator would end on this CPU.
    """
    parts = [line.partition(":") for line in cpuinfo.read_text().splitlines()]
    rows = {name.strip(): value.strip() for name, _, value in parts}
    flags = rows.get("flags", "").split()
    if missing := [flag for flag in _FLAGS if flag not in flags]:
        raise RequirementError(
            f"Google's emulator needs an x86-64 CPU with {', '.join(missing)}.",
            details=f"This host has: {rows.get('model name', 'another architecture')}.",
            resolution=_REFERENCE,
        )
    return rows.get("model name", "x86-64")


def require_memory(meminfo: Path = Path("/proc/meminfo")) -> str:
    """Check that the host has memory for one emulator; return how much it has.

    Raises:
        RequirementError: it has less.
    """
    total_mib = int(meminfo.read_text().split("MemTotal:")[1].split()[0]) >> 10
    if total_mib < MEMORY_MIB + _SLACK_MIB:
        raise RequirementError(
            f"Google's emulator needs {MEMORY_MIB + _SLACK_MIB} MiB of memory; this host has "
            f"{total_mib} MiB.",
            details=f"One phone may use {MEMORY_MIB} MiB.",
            resolution=_REFERENCE,
        )
    return f"{total_mib} MiB"


def require_disk(folder: Path, min_bytes: int, what: str) -> str:
    """Check the free space of the file system that a folder is, or will be, on; return it.

    Args:
        folder: need not exist.
        min_bytes: required free space.
        what: what the folder is, for the error.

    Raises:
        RequirementError: there is less.
    """
    present = next(path for path in (folder, *folder.parents) if path.exists())
    free_gib, needed_gib = shutil.disk_usage(present).free / 2**30, min_bytes / 2**30
    if free_gib < needed_gib:
        raise RequirementError(
            f"Google's emulator needs {needed_gib:.0f} GiB of free space in {what}.",
            details=f"{folder} has {free_gib:.1f} GiB.",
            resolution=f"Free some space there. {_REFERENCE}",
        )
    return f"{free_gib:.0f} GiB free in {folder}"


def engine_root() -> Path:
    """Return the folder where the Docker engine keeps layers and volumes.

    Raises:
        RequirementError: the engine does not answer.
    """
    with connect(doing="name its folder") as client:
        return Path(str(client.info()["DockerRootDir"]))


def require_device(device: Path = KVM) -> str:
    """Check that the host has KVM; return the path of its device.

    Raises:
        RequirementError: it has none.
    """
    if not device.exists():
        raise RequirementError(
            f"Google's emulator requires KVM, but this host has no {device}.",
            resolution=f"Enable virtualisation in the firmware, or nested virtualisation. {_REFERENCE}",
        )
    return str(device)


def require_kvm_inside(image: str, device: Path = KVM) -> str:
    """Check that the user of a phone's container can open KVM there; return how it was tried.

    A device that root opens on the host may be closed to the container's user, by its mode or by the
    engine's rules for devices.

    Args:
        image: Docker tag of any image with a shell.
        device: KVM's device.

    Raises:
        RequirementError: it cannot be opened.
    """
    from docker.errors import APIError, ContainerError  # noqa: PLC0415

    require_device(device)
    group = device.stat().st_gid
    try:
        with connect(doing="try KVM in a container") as client:
            client.containers.run(
                image,
                entrypoint=["/bin/sh", "-c"],
                command=['exec 3<>"$1"', "try", str(device)],
                user=str(USER),
                devices=[f"{device}:{device}:rw"],
                group_add=[str(group)],
                cap_drop=["ALL"],
                security_opt=["no-new-privileges:true"],
                network_mode="none",
                remove=True,
                stderr=True,
            )
    except (ContainerError, APIError) as exc:
        raise RequirementError(
            f"The user of a phone's container cannot open {device}.",
            details=f"user {USER} with group {group}, mode {device.stat().st_mode & 0o777:o}: "
            f"{str(exc)[-300:]}",
            resolution=f"Give the device's group access: `chmod 660 {device}`. {_REFERENCE}",
        ) from exc
    return f"opened by user {USER} in a container"
