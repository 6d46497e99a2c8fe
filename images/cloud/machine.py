"""Run cloud-init: boot a disk with a seed image until the guest powers itself off."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError, ToolTimeoutError
from images.cloud.seed import OUTPUT_SERIAL

if TYPE_CHECKING:
    from pathlib import Path

    from images.hypervisor.tools import Tools

QEMU = "qemu-system-x86_64"
# A guest that finds no root file system exits at once.
_CMDLINE = "root=/dev/vda rw console=ttyS0 quiet panic=5 mitigations=off"
# Nested AMD hosts announce this feature, but fail to set its register.
_CPU_MODELS = {"kvm": "host,arch-capabilities=off", "tcg": "max"}
_OUTPUT_MIB = 256
_TAIL_BYTES = 3000


@dataclass(frozen=True, slots=True)
class BuildMachine:
    """A temporary virtual machine for one build.

    Attributes:
        disk: qcow2 image, modified in place.
        seed: ISO image with the seed.
        folder: folder for its log and its answer disk.
        kernel: kernel to boot, with `initrd`; None uses the disk's own boot loader.
        initrd: initrd of the kernel.
        accelerator: ``kvm`` or ``tcg``.
        memory_mib: RAM size.
        has_network: whether it has this host's network access; else it has none.
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
        """The log of the guest's serial console."""
        return self.folder / "serial.log"

    def argv(self) -> list[str]:
        """Return the QEMU command line. Source: QEMU 7.2, invocation."""
        command = [
            *(QEMU, "-accel", self.accelerator, "-cpu", _CPU_MODELS[self.accelerator]),
            *("-machine", "q35", "-m", str(self.memory_mib), "-smp", "2"),
            *("-nodefaults", "-display", "none", "-no-reboot"),
            *("-serial", f"file:{self.serial_log}"),
            # The order of devices determines the guest's names: vda, vdb, vdc.
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

    def run(self, tools: Tools, *, timeout_s: float) -> dict[str, bytes]:
        """Boot the machine and wait until it powers off.

        Args:
            tools: run QEMU, with access to the machine's files and to the network if it has one.
            timeout_s: time limit.

        Returns:
            The files of the tar that the guest wrote to its answer disk: name to content.

        Raises:
            ImageBuildError: it did not finish in time, or it reported a failure.
            ToolError: QEMU failed.
        """
        answer = self.folder / "out.raw"
        with answer.open("wb") as disk:
            disk.truncate(_OUTPUT_MIB << 20)
        try:
            tools.run(*self.argv(), timeout_s=timeout_s)
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
            return "The guest's serial log is empty."
        return self.serial_log.read_bytes()[-_TAIL_BYTES:].decode(errors="replace")


def _disk(name: str, source: str, *options: str) -> list[str]:
    device = ",".join(("virtio-blk-pci", f"drive={name}", *options))
    return ["-drive", f"{source},if=none,id={name},cache=unsafe", "-device", device]


def _read_tar(path: Path) -> dict[str, bytes]:
    """Return the regular files of a tar; other members have empty content."""
    files = {}
    try:
        with tarfile.open(path, "r:") as tar:
            for info in tar:
                member = tar.extractfile(info) if info.isfile() else None
                files[info.name.removeprefix("./")] = (member or io.BytesIO()).read()
    except tarfile.TarError:
        return {}
    return files
