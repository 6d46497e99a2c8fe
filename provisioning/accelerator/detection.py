"""Find out whether guests really run under KVM, by running one; else there is TCG.

A ``/dev/kvm`` that exists proves little: it may refuse this user, refuse to make a virtual CPU
(seen: ``failed to set MSR 0x10a``), make one that never runs, or one that runs, but slower than
software emulation (seen under nested virtualisation: 8.9 s for what TCG does in 0.7 s). So the
boot sector of `provisioning.accelerator.boot_sector` is run with a deadline, with the CPU model that machines
will use, and once more under TCG to compare.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import MesocosmError, ToolMissingError, ToolTimeoutError
from appliance.base.files import write_atomic
from appliance.base.process import find_tool, run
from provisioning.accelerator.boot_sector import EXIT_CODE, PORT, boot_sector

if TYPE_CHECKING:
    from appliance.base.settings import Settings

KVM_DEVICE = Path("/dev/kvm")
QEMU = "qemu-system-x86_64"
DEADLINE_S = 3.0
SLOWER = 1.5
"""KVM that takes this many times longer than TCG is not used; a sound one takes less than half."""
_TCG_DEADLINE_S = 20.0
_TRIAL_MEMORY = "512m"
_TRIAL_PROCESSES = 128
CPU_MODELS = {"kvm": "host", "tcg": "max"}
"""QEMU's CPU model of machines by accelerator; KVM is tried with the one it will be used with."""


class KvmState(StrEnum):
    """What became of the guest that was to run under KVM."""

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
        reason: one sentence, why.
        state: what the trial of KVM showed; ``untried`` where the settings decide.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    reason: str
    state: KvmState


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run of QEMU ended.

    Attributes:
        exit_code: of QEMU; None when it was killed at the deadline.
        stderr: what it wrote on standard error.
        seconds: from its start to its end, QEMU's own start included.
    """

    exit_code: int | None
    stderr: str
    seconds: float = 0.0


def find_accelerator(settings: Settings, *, anew: bool = False) -> Accelerator:
    """Return the accelerator of this host.

    What was found is kept in the state folder until the next boot of the host, or until
    ``/dev/kvm`` comes, goes or changes its mode; later calls cost nothing.

    Args:
        settings: may decide it.
        anew: try again, whatever is kept.
    """
    if settings.accelerator != "auto":
        return Accelerator(
            name=settings.accelerator,
            reason="The settings say so (MESOCOSM_ACCELERATOR).",
            state=KvmState.UNTRIED,
        )
    path = settings.state_dir / "accelerator.json"
    key = _host_key()
    if not anew and (kept := _read_kept(path, key)):
        return kept
    accelerator = try_kvm(settings)
    if accelerator.state is not KvmState.UNTRIED:
        _keep(path, key, accelerator)
    return accelerator


def try_kvm(
    settings: Settings, *, device: Path = KVM_DEVICE, deadline_s: float = DEADLINE_S
) -> Accelerator:
    """Run the boot sector under KVM, with the host's QEMU or the hypervisor image's.

    Args:
        settings: where images are.
        device: KVM's device.
        deadline_s: how long the guest may take; a working KVM needs about 0.1 s.
    """
    if not device.exists():
        return _fall_back(KvmState.MISSING, f"There is no {device}.")
    if not os.access(device, os.R_OK | os.W_OK):
        return _fall_back(KvmState.DENIED, f"{device} is there, but this user may not open it.")
    try:
        ran = _run(settings, device, deadline_s, "kvm")
        accelerator = judge(ran, deadline_s)
        if accelerator.state is not KvmState.WORKS:
            return accelerator
        # One slow run may be the host's load; the better of two is the accelerator's.
        ours = min(ran.seconds, _run(settings, device, deadline_s, "kvm").seconds)
        return compare(ours, _run(settings, device, _TCG_DEADLINE_S, "tcg"))
    except ToolMissingError:
        return _fall_back(KvmState.UNTRIED, "There is no QEMU to try KVM with yet.")
    except MesocosmError as exc:
        return _fall_back(KvmState.UNTRIED, f"KVM could not be tried: {exc.brief}")


def compare(kvm_s: float, tcg: Ran) -> Accelerator:
    """Return whether a KVM that works is worth using.

    Args:
        kvm_s: what the boot sector took under KVM.
        tcg: the same guest under software emulation.
    """
    if tcg.exit_code == EXIT_CODE and kvm_s > SLOWER * tcg.seconds:
        return _fall_back(
            KvmState.SLOW,
            f"KVM runs guests, but takes {kvm_s:.1f} s for what software emulation does in "
            f"{tcg.seconds:.1f} s.",
        )
    return Accelerator(name="kvm", reason="A guest was booted under KVM.", state=KvmState.WORKS)


def _run(settings: Settings, device: Path, deadline_s: float, accelerator: str) -> Ran:
    if find_tool(QEMU):
        return run_on_host(deadline_s, accelerator)
    return run_in_container(settings, device, deadline_s, accelerator)


def judge(ran: Ran, deadline_s: float) -> Accelerator:
    """Return what a run of the boot sector means."""
    if ran.exit_code == EXIT_CODE:
        return Accelerator(name="kvm", reason="A guest was booted under KVM.", state=KvmState.WORKS)
    if ran.exit_code is None:
        return _fall_back(
            KvmState.HANGS,
            f"KVM opens, but a guest under it did not run within {deadline_s:g} s.",
        )
    lines = [line for line in ran.stderr.splitlines() if "warning" not in line]
    cause = lines[0] if lines else f"QEMU ended with exit code {ran.exit_code}"
    if "permission denied" in cause.lower():
        return _fall_back(KvmState.DENIED, f"QEMU may not open KVM: {cause}.")
    return _fall_back(KvmState.REFUSED, f"KVM opens, but cannot make a virtual CPU: {cause}.")


def qemu_argv(disk: str, accelerator: str = "kvm") -> list[str]:
    """Write the command that runs the boot sector."""
    return [
        QEMU,
        *("-accel", accelerator, "-cpu", CPU_MODELS[accelerator], "-m", "16"),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-drive", f"file={disk},format=raw,if=ide,snapshot=on"),
        *("-device", f"isa-debug-exit,iobase={PORT:#x},iosize=1"),
    ]


def run_on_host(deadline_s: float, accelerator: str = "kvm") -> Ran:
    """Run the boot sector with the host's QEMU.

    Raises:
        ToolMissingError: there is none.
    """
    with tempfile.NamedTemporaryFile(prefix="mesocosm-boot-", suffix=".img") as disk:
        disk.write(boot_sector())
        disk.flush()
        start_s = SYSTEM_CLOCK.monotonic_s()
        try:
            done = run(qemu_argv(disk.name, accelerator), timeout_s=deadline_s)
        except ToolTimeoutError:
            return Ran(None, "", deadline_s)
        seconds = SYSTEM_CLOCK.monotonic_s() - start_s
    return Ran(done.exit_code, done.stderr.decode(errors="replace"), seconds)


def run_in_container(
    settings: Settings, device: Path, deadline_s: float, accelerator: str = "kvm"
) -> Ran:
    """Run the boot sector with the QEMU of the hypervisor image, which must be built.

    Raises:
        ImageError: the image is not there or corrupt.
        RequirementError: docker does not answer.
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
                return Ran(None, "", deadline_s)
            seconds = SYSTEM_CLOCK.monotonic_s() - start_s
            output = container.logs(stdout=False, stderr=True).decode(errors="replace")
            return Ran(code, output, seconds)
        finally:
            container.remove(force=True)


def _fall_back(state: KvmState, cause: str) -> Accelerator:
    return Accelerator(name="tcg", reason=f"{cause} Software emulation (TCG) is used.", state=state)


class _Kept(BaseModel):
    """What was found, and under which circumstances."""

    key: list[str]
    accelerator: Accelerator


def _host_key() -> list[str]:
    """Return what must not change for a finding to hold."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return [
        boot.read_text().strip() if boot.exists() else "",
        str(KVM_DEVICE.stat().st_mode) if KVM_DEVICE.exists() else "none",
        str(os.geteuid()),
    ]


def _read_kept(path: Path, key: list[str]) -> Accelerator | None:
    try:
        kept = _Kept.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    return kept.accelerator if kept.key == key else None


def _keep(path: Path, key: list[str], accelerator: Accelerator) -> None:
    try:
        write_atomic(path, _Kept(key=key, accelerator=accelerator).model_dump_json())
    except OSError:
        return  # a state folder that cannot be written only costs another trial
