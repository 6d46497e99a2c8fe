"""Captures a VM's screen from the host: QEMU writes the frame to a file, without the guest."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import numpy as np

from foundation.errors import MachineError

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.protocols import Frame

# One white-space byte ends the header; everything after it is pixel data.
_HEADER = re.compile(rb"P6\s+(\d+)\s+(\d+)\s+255\s")


class VmScreen:
    """A `provisioning.protocols.Screen` over QMP's ``screendump``.

    Args:
        hypervisor: hypervisor that runs the domain.
        name: name of the domain.
        folder: a folder that QEMU and this process reach under the same path.
    """

    def __init__(self, hypervisor: Hypervisor, name: str, folder: Path) -> None:
        self._hypervisor = hypervisor
        self._name = name
        self._path = folder / "screen.ppm"
        self._lock = threading.Lock()
        self._last_size: tuple[int, int] | None = None

    @property
    def captured_by(self) -> str:
        """Return the name of what captures the screen."""
        return "QEMU"

    def capture(self) -> Frame:
        """Take a screenshot: uint8 array (H, W, 3), RGB, origin top left.

        Raises:
            MachineError: QEMU is gone or returned no screenshot.
        """
        with self._lock:
            arguments = {"filename": str(self._path), "format": "ppm"}
            self._hypervisor.qmp(self._name, "screendump", arguments)
            frame = parse_ppm(self._path.read_bytes())
            self._last_size = frame.shape[1], frame.shape[0]
            return frame

    def last_size(self) -> tuple[int, int]:
        """Return width and height in px of the last screenshot, or of a new one if there is none.

        Input refers to the last screenshot, so it does not need a new one.
        """
        return self._last_size or self.size()

    def size(self) -> tuple[int, int]:
        """Return width and height in px."""
        frame = self.capture()
        return frame.shape[1], frame.shape[0]


def parse_ppm(data: bytes) -> Frame:
    """Parse a binary PPM with 8 bits per channel, as QEMU writes it.

    Raises:
        MachineError: the data is not such a PPM.
    """
    header = _HEADER.match(data)
    if header is None:
        raise MachineError("QEMU wrote a screenshot that is not a PPM.", details=repr(data[:32]))
    width, height = int(header[1]), int(header[2])
    size_bytes = width * height * 3
    if len(data) - header.end() != size_bytes:
        raise MachineError(
            "QEMU wrote an incomplete screenshot.",
            details=f"{len(data) - header.end()} of {size_bytes} B",
        )
    pixels = np.frombuffer(data, dtype=np.uint8, count=size_bytes, offset=header.end())
    return pixels.reshape(height, width, 3)
