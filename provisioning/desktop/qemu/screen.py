"""See a VM from the host: QEMU writes its frame to a file; nothing in the guest takes part."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import numpy as np

from appliance.base.errors import MachineError

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.protocols import Frame

# One white-space byte ends the header; what follows is pixels, whatever it looks like.
_HEADER = re.compile(rb"P6\s+(\d+)\s+(\d+)\s+255\s")


class VmScreen:
    """A `provisioning.protocols.Screen` over QMP's ``screendump``.

    Args:
        hypervisor: where the domain runs.
        name: of the domain.
        folder: both QEMU and this process can reach it under the same path.
    """

    def __init__(self, hypervisor: Hypervisor, name: str, folder: Path) -> None:
        self._hypervisor = hypervisor
        self._name = name
        self._path = folder / "screen.ppm"
        self._lock = threading.Lock()
        self._last_size: tuple[int, int] | None = None

    @property
    def seen_by(self) -> str:
        """What takes the pictures."""
        return "QEMU"

    def capture(self) -> Frame:
        """Take a picture: uint8 array (H, W, 3), RGB, origin top left.

        Raises:
            MachineError: QEMU is gone or gave no picture.
        """
        with self._lock:
            arguments = {"filename": str(self._path), "format": "ppm"}
            self._hypervisor.qmp(self._name, "screendump", arguments)
            frame = parse_ppm(self._path.read_bytes())
            self._last_size = frame.shape[1], frame.shape[0]
            return frame

    def last_size(self) -> tuple[int, int]:
        """Return width and height of the last picture in px, of a new one where there is none.

        What acts on the screen goes by what was seen of it, and need not look again.
        """
        return self._last_size or self.size()

    def size(self) -> tuple[int, int]:
        """Return width and height in px."""
        frame = self.capture()
        return frame.shape[1], frame.shape[0]


def parse_ppm(data: bytes) -> Frame:
    """Read a binary PPM with 8 bits a channel, as QEMU writes it.

    Raises:
        MachineError: it is none.
    """
    header = _HEADER.match(data)
    if header is None:
        raise MachineError("QEMU gave a picture that is no PPM.", details=repr(data[:32]))
    width, height = int(header[1]), int(header[2])
    size_bytes = width * height * 3
    if len(data) - header.end() != size_bytes:
        raise MachineError(
            "QEMU gave half a picture.", details=f"{len(data) - header.end()} of {size_bytes} B"
        )
    pixels = np.frombuffer(data, dtype=np.uint8, count=size_bytes, offset=header.end())
    return pixels.reshape(height, width, 3)
