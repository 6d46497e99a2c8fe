"""What guests under KVM see of the host's CPU, and what a saved state of them depends on."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict

CPUINFO = Path("/proc/cpuinfo")


class HostCpu(BaseModel):
    """The host's CPU and kernel.

    Attributes:
        model: name of the CPU.
        flags: its features, as the kernel names them, sorted.
        microcode: its revision; empty if the kernel does not report it.
        kernel: release of the kernel, whose KVM decides what guests see.
    """

    model_config = ConfigDict(frozen=True)

    model: str = ""
    flags: tuple[str, ...] = ()
    microcode: str = ""
    kernel: str = ""


def read_host_cpu(cpuinfo: Path = CPUINFO) -> HostCpu:
    """Return the host's CPU and kernel, as far as the kernel reports them.

    Args:
        cpuinfo: path of the kernel's description of the CPUs, of which the first counts.

    Source: proc(5), ``/proc/cpuinfo``; uname(2).
    """
    try:
        text = cpuinfo.read_text(encoding="utf-8")
    except OSError:
        text = ""

    def field(name: str) -> str:
        match = re.search(rf"^{name}[ \t]*:[ \t]*(.*)$", text, flags=re.MULTILINE)
        return match[1].strip() if match else ""

    return HostCpu(
        model=field("model name"),
        flags=tuple(sorted(field("flags").split())),
        microcode=field("microcode"),
        kernel=os.uname().release,
    )
