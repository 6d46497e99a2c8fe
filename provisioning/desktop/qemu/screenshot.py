"""libvirt's own screenshot, the baseline that benchmarks compare `screendump` with."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import libvirt
import numpy as np
from PIL import Image

from foundation.errors import MachineError, RequirementError

if TYPE_CHECKING:
    from provisioning.protocols import Frame


class LibvirtScreen:
    """Screenshots of a domain by ``virDomainScreenshot``: libvirtd writes a file, then streams it.

    Args:
        uri: URI of libvirtd.
        name: name of the domain.

    Raises:
        RequirementError: libvirtd does not answer.
    """

    def __init__(self, uri: str, name: str) -> None:
        self._name = name
        try:
            self._connection = libvirt.open(uri)
        except libvirt.libvirtError as exc:
            raise RequirementError("The hypervisor does not answer.", details=str(exc)) from exc

    def capture(self) -> Frame:
        """Take a screenshot: uint8 array (H, W, 3), RGB, origin top left.

        Raises:
            MachineError: libvirt returned no valid screenshot.
        """
        data = io.BytesIO()
        try:
            domain = self._connection.lookupByName(self._name)
            stream = self._connection.newStream()
            domain.screenshot(stream, 0)
            stream.recvAll(lambda _stream, chunk, out: out.write(chunk), data)
            stream.finish()
        except libvirt.libvirtError as exc:
            raise MachineError(f"libvirt took no screenshot of {self._name}.", str(exc)) from exc
        try:
            with Image.open(data) as image:
                return np.asarray(image.convert("RGB"))
        except (OSError, ValueError) as exc:
            raise MachineError(
                f"libvirt returned an invalid screenshot of {self._name}.", str(exc)
            ) from exc

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
