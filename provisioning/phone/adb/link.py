"""The probe on a phone: put there when it is first needed, started anew after each rewind."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from appliance.base.errors import LinkClosedError
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
    """A `provisioning.protocols.Link` that comes up with its first call.

    A rewind ends every process on the phone, the probe too; the next call starts it again. What
    only drives and judges a phone needs no probe at all, so a rewind does not wait for one.

    Args:
        device: the phone; needs Python, which Android does not have.
        name: for errors.
    """

    def __init__(self, device: AdbDevice, *, name: str) -> None:
        self._device = device
        self._name = name
        self._lock = threading.Lock()
        self._client: LinkClient | None = None

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        """Ask the probe for one operation and wait for its reply.

        Raises:
            LinkClosedError: the phone, or its probe, went away.
            LinkTimeoutError: no reply before the deadline; later calls still work.
            LinkProtocolError: garbage came, or more than the bound.
            GuestCallError: the operation failed on the phone.
        """
        return self._open().call(op, params, timeout_s=timeout_s)

    def close(self) -> None:
        """Let the transport go; harmless twice, and a later call opens another."""
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
            output = transport.last_words()
            with contextlib.suppress(OSError):
                transport.close()
            raise LinkClosedError(
                f"No probe comes up on {self._name}.", details=output or exc.details
            ) from exc
