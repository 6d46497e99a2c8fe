"""A machine without a disk in a real QEMU, which shows its firmware over VNC and logs its input."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.clock import wait_until
from foundation.process import find_tool, kill_group, start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = "qemu-system-x86_64"
IS_THERE = bool(find_tool(PROGRAM))


@dataclass(frozen=True)
class Firmware:
    """A running machine.

    Attributes:
        socket: socket of its VNC server.
        log: QEMU's trace of input events.
    """

    socket: Path
    log: Path

    def inputs(self) -> list[str]:
        """Return the names of the input events that reached the machine, in order."""
        return re.findall(r"\b(input_event_\w+)", self.log.read_text())


@contextmanager
def running_firmware(folder: Path) -> Iterator[Firmware]:
    """Run a machine; its files are in `folder`."""
    machine = Firmware(folder / "vnc.sock", folder / "input.log")
    process = start(
        [
            PROGRAM,
            *("-machine", "q35,accel=tcg", "-m", "64", "-nodefaults", "-vga", "std"),
            *("-device", "virtio-tablet-pci", "-device", "virtio-keyboard-pci"),
            *("-display", f"vnc=unix:{machine.socket}"),
            *("-D", str(machine.log), "-trace", "input_event_*"),
        ]
    )
    try:
        assert wait_until(machine.socket.exists, timeout_s=60)
        yield machine
    finally:
        kill_group(process)
        process.communicate()
