"""Runs the test guest with the host's QEMU or the hypervisor image's, and times its work."""

from __future__ import annotations

import contextlib
import queue
import tempfile
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.process import find_tool, kill_group, start
from provisioning.accelerator.guest_program import (
    BEGUN,
    COMPUTED,
    CONSOLE_PORT,
    EXIT_CODE,
    PAGED,
    PORT,
    ROUNDS,
    boot_sector,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from foundation.settings import Settings

QEMU = "qemu-system-x86_64"
HIDDEN = ("vmx", "svm")
"""CPU features that guests under KVM never have: they run no guests, and each is more to save."""

_MEMORY = "512m"
_PROCESSES = 128
_SPARE_S = 10.0


@dataclass(slots=True)
class GuestRun:
    """How a run of the test guest went.

    Attributes:
        exit_code: exit code of QEMU; None if it was killed at the deadline.
        output: lines of QEMU itself, such as its errors.
        begun_s: when the guest's work began, seconds after the start of QEMU; None if it did not.
        rounds_s: when each round of work ended, seconds after the beginning of the work.
        waited_s: seconds from the beginning of the work until the end of the run.
    """

    exit_code: int | None = None
    output: list[str] = field(default_factory=list)
    begun_s: float | None = None
    rounds_s: list[float] = field(default_factory=list)
    waited_s: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Return whether the guest did all its work."""
        return self.exit_code == EXIT_CODE and len(self.rounds_s) == 2 * ROUNDS

    @property
    def work_s(self) -> float:
        """Return the seconds that the work took; for an incomplete run, how long it was given."""
        return self.rounds_s[-1] if self.is_complete else self.waited_s


def run_guest(
    settings: Settings,
    device: Path,
    accelerator: str,
    without: Sequence[str] = (),
    *,
    boot_s: float,
    work_s: float,
) -> GuestRun:
    """Run the test guest with the host's QEMU, or the hypervisor image's if the host has none.

    Args:
        settings: location of images.
        device: path of the KVM device.
        accelerator: ``kvm`` or ``tcg``.
        without: CPU features that a guest under KVM must not have.
        boot_s: time limit until the work begins.
        work_s: time limit of the work.

    Raises:
        ToolMissingError, ImageError, RequirementError: there is neither QEMU nor that image.
    """
    if find_tool(QEMU):
        return run_on_host(accelerator, without, boot_s=boot_s, work_s=work_s)
    return run_in_container(settings, device, accelerator, without, boot_s=boot_s, work_s=work_s)


def cpu_option(accelerator: str, without: Sequence[str] = ()) -> str:
    """Return QEMU's option ``-cpu`` for the CPU that desktops get."""
    if accelerator == "tcg":
        return "max"
    return ",".join(["host", *(f"{name}=off" for name in (*HIDDEN, "pmu", *without))])


def qemu_argv(disk: str, accelerator: str, without: Sequence[str] = ()) -> list[str]:
    """Return the QEMU command that runs the test guest; its console is the standard output."""
    return [
        QEMU,
        *("-accel", accelerator, "-cpu", cpu_option(accelerator, without), "-m", "16"),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-drive", f"file={disk},format=raw,if=ide,snapshot=on"),
        *("-chardev", "stdio,id=console,signal=off"),
        *("-device", f"isa-debugcon,iobase={CONSOLE_PORT:#x},chardev=console"),
        *("-device", f"isa-debug-exit,iobase={PORT:#x},iosize=1"),
    ]


def run_on_host(
    accelerator: str, without: Sequence[str] = (), *, boot_s: float, work_s: float
) -> GuestRun:
    """Run the test guest with the host's QEMU; see `run_guest` for arguments and errors."""
    with tempfile.NamedTemporaryFile(prefix="mesocosm-boot-", suffix=".img") as disk:
        disk.write(boot_sector())
        disk.flush()
        with start(qemu_argv(disk.name, accelerator, without), merge=True) as process:
            assert process.stdout is not None  # noqa: S101
            reader = _Reader(process.stdout, boot_s=boot_s, work_s=work_s)
            try:
                is_ended = reader.read()
                if is_ended:
                    process.wait(boot_s)
            finally:
                kill_group(process)
    return reader.result(process.returncode if is_ended else None)


def run_in_container(
    settings: Settings,
    device: Path,
    accelerator: str,
    without: Sequence[str] = (),
    *,
    boot_s: float,
    work_s: float,
) -> GuestRun:
    """Run the test guest with the hypervisor image's QEMU; see `run_guest` for arguments and errors."""
    import io  # noqa: PLC0415
    import tarfile  # noqa: PLC0415

    from images.builder import find  # noqa: PLC0415
    from images.engine import connect  # noqa: PLC0415
    from images.hypervisor.tools import removed_afterwards  # noqa: PLC0415

    image = find("hypervisor", settings)
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w") as tar:
        info = tarfile.TarInfo("boot.img")
        info.size = len(boot_sector())
        tar.addfile(info, io.BytesIO(boot_sector()))
    # A guest that hangs ends even if this process is killed.
    argv = ["timeout", "-k", "5", f"{boot_s + work_s + _SPARE_S:g}"]
    argv += qemu_argv("/boot.img", accelerator, without)
    with connect() as client:
        container = client.containers.create(
            image.tag or "",
            entrypoint=argv[:1],
            command=argv[1:],
            devices=[f"{device}:{device}:rwm"] if accelerator == "kvm" else [],
            network_mode="none",
            mem_limit=_MEMORY,
            memswap_limit=_MEMORY,
            pids_limit=_PROCESSES,
        )
        with removed_afterwards(str(container.id)):
            container.put_archive("/", body.getvalue())
            container.start()
            output = container.logs(stream=True, follow=True)
            reader = _Reader(output, boot_s=boot_s, work_s=work_s)
            is_ended = reader.read()
            code = int(container.wait(timeout=boot_s)["StatusCode"]) if is_ended else None
            return reader.result(code)


class _Reader:
    """Reads the output of a run as it comes, with the time of each line.

    Args:
        chunks: the output; its end is the end of the run.
        boot_s: time limit until the work begins.
        work_s: time limit of the work.
    """

    def __init__(self, chunks: Iterable[bytes], *, boot_s: float, work_s: float) -> None:
        self._start_s = SYSTEM_CLOCK.monotonic_s()
        self._run = GuestRun()
        self._boot_s, self._work_s = boot_s, work_s
        self._lines: queue.Queue[tuple[float, str] | None] = queue.Queue()
        threading.Thread(target=self._follow, args=(chunks,), daemon=True).start()

    def read(self) -> bool:
        """Read until the run ends or its time is up; return whether it ended."""
        limit_s = self._boot_s
        with contextlib.suppress(queue.Empty):
            while True:
                item = self._lines.get(timeout=max(0.0, limit_s - self._elapsed_s()))
                if item is None:
                    return True
                self._take(*item)
                if self._run.begun_s is not None:
                    limit_s = self._run.begun_s + self._work_s
        return False

    def result(self, exit_code: int | None) -> GuestRun:
        """Return the run, which has ended."""
        self._run.exit_code = exit_code
        if self._run.begun_s is not None:
            self._run.waited_s = self._elapsed_s() - self._run.begun_s
        return self._run

    def _follow(self, chunks: Iterable[bytes]) -> None:
        rest = b""
        with contextlib.suppress(OSError, ValueError):  # the run was ended
            for chunk in chunks:
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    self._lines.put((self._elapsed_s(), line.decode(errors="replace").rstrip()))
        if rest:
            self._lines.put((self._elapsed_s(), rest.decode(errors="replace")))
        self._lines.put(None)

    def _take(self, now_s: float, line: str) -> None:
        if line == BEGUN:
            self._run.begun_s = now_s
        elif line in {COMPUTED, PAGED} and self._run.begun_s is not None:
            self._run.rounds_s.append(now_s - self._run.begun_s)
        else:
            self._run.output.append(line)

    def _elapsed_s(self) -> float:
        return SYSTEM_CLOCK.monotonic_s() - self._start_s
