"""Detects whether guests run under KVM by running one; otherwise TCG is used.

The existence of ``/dev/kvm`` proves little: it may deny access to this user, fail to create a virtual
CPU (observed: ``failed to set MSR 0x10a``), or create one that never runs or runs slower than software
emulation (observed under nested virtualization: 8.9 s for what TCG does in 0.7 s). So the boot sector
of `provisioning.accelerator.boot_sector` is run with a deadline and the CPU model that machines will
use, and again under TCG for comparison.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError, ToolMissingError, ToolTimeoutError
from foundation.files import write_atomic
from foundation.process import find_tool, run
from provisioning.accelerator.boot_sector import EXIT_CODE, PORT, boot_sector

if TYPE_CHECKING:
    from foundation.settings import Settings

KVM_DEVICE = Path("/dev/kvm")
QEMU = "qemu-system-x86_64"
DEADLINE_S = 3.0
MAX_SLOWDOWN_RATIO = 1.5
"""KVM is not used if it takes this many times longer than TCG; normally it takes less than half."""
_TCG_DEADLINE_S = 20.0
_TRIAL_MEMORY = "512m"
_TRIAL_PROCESSES = 128
CPU_MODELS = {"kvm": "host", "tcg": "max"}
"""QEMU's CPU model by accelerator; KVM is tested with the model that machines will use."""


class KvmState(StrEnum):
    """The result of running a guest under KVM."""

    WORKS = "works"
    MISSING = "missing"
    DENIED = "denied"
    REFUSED = "refused"
    HANGS = "hangs"
    SLOW = "slow"
    UNTRIED = "untried"


class Accelerator(BaseModel):
    """How machines run on this host.

    Attributes:
        name: ``kvm`` or ``tcg``; recorded with every result.
        reason: why it was chosen, one sentence.
        state: result of the KVM test; ``untried`` if the settings decide.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    reason: str
    state: KvmState


@dataclass(frozen=True, slots=True)
class GuestRun:
    """How a run of QEMU ended.

    Attributes:
        exit_code: exit code of QEMU; None if it was killed at the deadline.
        stderr: its standard error.
        seconds: duration of the run, including the start of QEMU.
    """

    exit_code: int | None
    stderr: str
    seconds: float = 0.0


def find_accelerator(settings: Settings, *, ignore_cache: bool = False) -> Accelerator:
    """Return the accelerator of this host.

    The result is cached in the state folder until the host reboots, or until ``/dev/kvm`` appears,
    disappears or changes its mode, so that later calls are fast.

    Args:
        settings: may set the accelerator.
        ignore_cache: whether to ignore the cached result and test again.
    """
    if settings.accelerator != "auto":
        return Accelerator(
            name=settings.accelerator,
            reason="It is set by MESOCOSM_ACCELERATOR.",
            state=KvmState.UNTRIED,
        )
    path = settings.state_dir / "accelerator.json"
    key = _host_key()
    if not ignore_cache and (cached := _read_cache(path, key)):
        return cached
    accelerator = try_kvm(settings)
    if accelerator.state is not KvmState.UNTRIED:
        _write_cache(path, key, accelerator)
    return accelerator


def try_kvm(
    settings: Settings, *, device: Path = KVM_DEVICE, deadline_s: float = DEADLINE_S
) -> Accelerator:
    """Run the boot sector under KVM, with the host's QEMU or the hypervisor image's.

    Args:
        settings: location of images.
        device: path of the KVM device.
        deadline_s: time limit of the guest; a working KVM needs about 0.1 s.
    """
    if not device.exists():
        return _fall_back(KvmState.MISSING, f"{device} does not exist.")
    if not os.access(device, os.R_OK | os.W_OK):
        return _fall_back(
            KvmState.DENIED, f"{device} exists, but this user has no permission to open it."
        )
    try:
        ran = _run(settings, device, deadline_s, "kvm")
        accelerator = accelerator_of(ran, deadline_s)
        if accelerator.state is not KvmState.WORKS:
            return accelerator
        # One slow run may be caused by the host's load, so the faster of two runs counts.
        kvm_s = min(ran.seconds, _run(settings, device, deadline_s, "kvm").seconds)
        return compare(kvm_s, _run(settings, device, _TCG_DEADLINE_S, "tcg"))
    except ToolMissingError:
        return _fall_back(KvmState.UNTRIED, "QEMU is not available yet to test KVM.")
    except MesocosmError as exc:
        return _fall_back(KvmState.UNTRIED, f"KVM could not be tested: {exc.brief}")


def compare(kvm_s: float, tcg: GuestRun) -> Accelerator:
    """Return KVM if it is fast enough compared with software emulation, otherwise TCG.

    Args:
        kvm_s: duration of the boot sector under KVM.
        tcg: run of the same guest under software emulation.
    """
    if tcg.exit_code == EXIT_CODE and kvm_s > MAX_SLOWDOWN_RATIO * tcg.seconds:
        return _fall_back(
            KvmState.SLOW,
            f"KVM runs guests, but takes {kvm_s:.1f} s for what software emulation does in "
            f"{tcg.seconds:.1f} s.",
        )
    return Accelerator(name="kvm", reason="A guest was booted under KVM.", state=KvmState.WORKS)


def _run(settings: Settings, device: Path, deadline_s: float, accelerator: str) -> GuestRun:
    if find_tool(QEMU):
        return run_on_host(deadline_s, accelerator)
    return run_in_container(settings, device, deadline_s, accelerator)


def accelerator_of(ran: GuestRun, deadline_s: float) -> Accelerator:
    """Return the accelerator that a run of the boot sector under KVM implies."""
    if ran.exit_code == EXIT_CODE:
        return Accelerator(name="kvm", reason="A guest was booted under KVM.", state=KvmState.WORKS)
    if ran.exit_code is None:
        return _fall_back(
            KvmState.HANGS,
            f"KVM is accessible, but a guest under KVM did not finish within {deadline_s:g} s.",
        )
    lines = [line for line in ran.stderr.splitlines() if "warning" not in line]
    cause = lines[0] if lines else f"QEMU ended with exit code {ran.exit_code}"
    if "permission denied" in cause.lower():
        return _fall_back(KvmState.DENIED, f"QEMU has no permission to open KVM: {cause}.")
    return _fall_back(
        KvmState.REFUSED, f"KVM is accessible, but cannot create a virtual CPU: {cause}."
    )


def qemu_argv(disk: str, accelerator: str = "kvm") -> list[str]:
    """Return the QEMU command that runs the boot sector."""
    return [
        QEMU,
        *("-accel", accelerator, "-cpu", CPU_MODELS[accelerator], "-m", "16"),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-drive", f"file={disk},format=raw,if=ide,snapshot=on"),
        *("-device", f"isa-debug-exit,iobase={PORT:#x},iosize=1"),
    ]


def run_on_host(deadline_s: float, accelerator: str = "kvm") -> GuestRun:
    """Run the boot sector with the host's QEMU.

    Raises:
        ToolMissingError: the host has no QEMU.
    """
    with tempfile.NamedTemporaryFile(prefix="mesocosm-boot-", suffix=".img") as disk:
        disk.write(boot_sector())
        disk.flush()
        start_s = SYSTEM_CLOCK.monotonic_s()
        try:
            result = run(qemu_argv(disk.name, accelerator), timeout_s=deadline_s)
        except ToolTimeoutError:
            return GuestRun(None, "", deadline_s)
        seconds = SYSTEM_CLOCK.monotonic_s() - start_s
    return GuestRun(result.exit_code, result.stderr.decode(errors="replace"), seconds)


def run_in_container(
    settings: Settings, device: Path, deadline_s: float, accelerator: str = "kvm"
) -> GuestRun:
    """Run the boot sector with the QEMU of the hypervisor image, which must be built.

    Raises:
        ImageError: the image is not built, or is corrupt.
        RequirementError: Docker does not answer.
    """
    import io  # noqa: PLC0415
    import tarfile  # noqa: PLC0415

    from requests.exceptions import RequestException  # noqa: PLC0415

    from images.builder import find  # noqa: PLC0415
    from images.engine import connect  # noqa: PLC0415

    image = find("hypervisor", settings)
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w") as tar:
        info = tarfile.TarInfo("boot.img")
        info.size = len(boot_sector())
        tar.addfile(info, io.BytesIO(boot_sector()))
    argv = qemu_argv("/boot.img", accelerator)
    with connect() as client:
        container = client.containers.create(
            image.tag or "",
            entrypoint=argv[:1],
            command=argv[1:],
            devices=[f"{device}:{device}:rwm"] if accelerator == "kvm" else [],
            network_mode="none",
            mem_limit=_TRIAL_MEMORY,
            memswap_limit=_TRIAL_MEMORY,
            pids_limit=_TRIAL_PROCESSES,
        )
        try:
            container.put_archive("/", body.getvalue())
            start_s = SYSTEM_CLOCK.monotonic_s()
            container.start()
            try:
                code = int(container.wait(timeout=deadline_s)["StatusCode"])
            except RequestException:
                return GuestRun(None, "", deadline_s)
            seconds = SYSTEM_CLOCK.monotonic_s() - start_s
            output = container.logs(stdout=False, stderr=True).decode(errors="replace")
            return GuestRun(code, output, seconds)
        finally:
            container.remove(force=True)


def _fall_back(state: KvmState, cause: str) -> Accelerator:
    return Accelerator(name="tcg", reason=f"{cause} Software emulation (TCG) is used.", state=state)


class _Cache(BaseModel):
    """A cached result and the host state that it is valid for."""

    key: list[str]
    accelerator: Accelerator


def _host_key() -> list[str]:
    """Return the host state that must not change for a cached result to be valid."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return [
        boot.read_text().strip() if boot.exists() else "",
        str(KVM_DEVICE.stat().st_mode) if KVM_DEVICE.exists() else "none",
        str(os.geteuid()),
    ]


def _read_cache(path: Path, key: list[str]) -> Accelerator | None:
    try:
        cache = _Cache.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    return cache.accelerator if cache.key == key else None


def _write_cache(path: Path, key: list[str], accelerator: Accelerator) -> None:
    try:
        write_atomic(path, _Cache(key=key, accelerator=accelerator).model_dump_json())
    except OSError:
        return  # if the state folder is not writable, the next call only tests again
