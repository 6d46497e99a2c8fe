"""The probe on a phone: deployed when first needed, and restarted after each rewind."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from foundation.errors import LinkClosedError
from provisioning.links.client import LinkClient, connect
from provisioning.links.zipapp import build_probe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.phone.adb.device import AdbDevice
    from provisioning.protocols import Json

FOLDER = "/data/local/tmp"
USER = "shell"
_START_TIMEOUT_S = 20.0


class PhoneLink:
    """A `provisioning.protocols.Link` that starts the probe with its first call.

    A rewind ends every process on the phone, including the probe; the next call starts it again.
    Driving and grading a phone needs no probe, so a rewind does not wait for it.

    Args:
        device: the phone; needs Python, which Android does not have.
        name: name of the phone, for errors.
    """

    def __init__(self, device: AdbDevice, *, name: str) -> None:
        self._device = device
        self._name = name
        self._lock = threading.Lock()
        self._client: LinkClient | None = None

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        """Call one operation of the probe and wait for its reply.

        Raises:
            LinkClosedError: the phone or its probe closed the connection.
            LinkTimeoutError: no reply before the deadline; later calls still work.
            LinkProtocolError: invalid data, or more than the limit, arrived.
            GuestCallError: the operation failed on the phone.
        """
        return self._open().call(op, params, timeout_s=timeout_s)

    def close(self) -> None:
        """Close the transport; may be called more than once, and a later call opens another."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _open(self) -> LinkClient:
        with self._lock:
            if self._client is None or self._client.is_closed:
                self._client = self._start()
            return self._client

    def _start(self) -> LinkClient:
        archive = build_probe()
        path = f"{FOLDER}/{archive.file_name}"
        status = self._device.stat(path)
        if status is None or status.size_bytes != len(archive.data):
            self._device.put(path, archive.data, mode=0o600)
        program = f"exec python3 -I {path} --stdio --user {USER}"
        transport = self._device.open_program(program, timeout_s=_START_TIMEOUT_S)
        try:
            return connect(transport, name=self._name, timeout_s=_START_TIMEOUT_S)
        except LinkClosedError as exc:
            output = transport.read_error_tail()
            with contextlib.suppress(OSError):
                transport.close()
            raise LinkClosedError(
                f"The probe did not start on {self._name}.", details=output or exc.details
            ) from exc
