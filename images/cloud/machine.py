"""Run cloud-init: boot a disk with a seed beside it until the guest powers itself off."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.base.errors import ImageBuildError, ToolTimeoutError
from appliance.base.process import run
from images.cloud.seed import OUTPUT_SERIAL

if TYPE_CHECKING:
    from pathlib import Path

QEMU = "qemu-system-x86_64"
# A guest that finds no root ends at once.
_CMDLINE = "root=/dev/vda rw console=ttyS0 quiet panic=5 mitigations=off"
_CPU_MODELS = {"kvm": "host", "tcg": "max"}
_OUTPUT_MIB = 256
_TAIL_BYTES = 3000


@dataclass(frozen=True, slots=True)
class BuildMachine:
    """A machine that lives for one build.

    Attributes:
        disk: qcow2; it is changed.
        seed: ISO image.
        folder: where its log and the disk it answers on are put.
        kernel: to boot, with `initrd`; None boots what the disk's own boot loader does.
        initrd: beside the kernel.
        accelerator: ``kvm`` or ``tcg``.
        memory_mib: RAM.
        has_network: it reaches what this host reaches; else nothing.
    """

    disk: Path
    seed: Path
    folder: Path
    kernel: Path | None = None
    initrd: Path | None = None
    accelerator: str = "tcg"
    memory_mib: int = 2048
    has_network: bool = True

    @property
    def serial_log(self) -> Path:
        """What the guest says."""
        return self.folder / "serial.log"

    def argv(self) -> list[str]:
        """Return the command that runs it. Source: QEMU 7.2, invocation."""
        command = [
            *(QEMU, "-accel", self.accelerator, "-cpu", _CPU_MODELS[self.accelerator]),
            *("-machine", "q35", "-m", str(self.memory_mib), "-smp", "2"),
            *("-nodefaults", "-display", "none", "-no-reboot"),
            *("-serial", f"file:{self.serial_log}"),
            # Devices in the order in which the guest is to name them: vda, vdb, vdc.
            *_disk("disk", f"file={self.disk},format=qcow2,discard=unmap", "bootindex=1"),
            *_disk("seed", f"file={self.seed},format=raw,readonly=on"),
            *_disk("out", f"file={self.folder / 'out.raw'},format=raw", f"serial={OUTPUT_SERIAL}"),
            *("-netdev", f"user,id=net0,restrict={'off' if self.has_network else 'on'}"),
            *("-device", "virtio-net-pci,netdev=net0", "-device", "virtio-rng-pci"),
        ]
        if self.kernel is not None:
            command += ["-kernel", str(self.kernel), "-initrd", str(self.initrd)]
            command += ["-append", _CMDLINE]
        return command

    def run(self, *, timeout_s: float) -> dict[str, bytes]:
        """Boot it and wait for its end.

        Returns:
            What the guest wrote to its answer disk as a tar: name to content.

        Raises:
            ImageBuildError: it did not end in time, or it says that it failed.
            ToolError: QEMU is missing or failed.
        """
        answer = self.folder / "out.raw"
        with answer.open("wb") as disk:
            disk.truncate(_OUTPUT_MIB << 20)
        try:
            run(self.argv(), timeout_s=timeout_s).require()
        except ToolTimeoutError as exc:
            raise ImageBuildError(
                f"cloud-init did not finish within {timeout_s:g} s.", details=self._tail()
            ) from exc
        files = _read_tar(answer)
        answer.unlink()
        if files.get("status", b"").strip() != b"0":
            log = files.get("install.log", b"").decode(errors="replace")
            raise ImageBuildError(
                "Setting up the guest by cloud-init failed.",
                details=log[-_TAIL_BYTES:] or self._tail(),
            )
        return files

    def _tail(self) -> str:
        if not self.serial_log.is_file():
            return "The guest said nothing."
        return self.serial_log.read_bytes()[-_TAIL_BYTES:].decode(errors="replace")


def _disk(name: str, source: str, *options: str) -> list[str]:
    device = ",".join(("virtio-blk-pci", f"drive={name}", *options))
    return ["-drive", f"{source},if=none,id={name},cache=unsafe", "-device", device]


def _read_tar(path: Path) -> dict[str, bytes]:
    """Read the regular files of a tar; what is none is empty."""
    files = {}
    try:
        with tarfile.open(path, "r:") as tar:
            for info in tar:
                member = tar.extractfile(info) if info.isfile() else None
                files[info.name.removeprefix("./")] = (member or io.BytesIO()).read()
    except tarfile.TarError:
        return {}
    return files
