"""What a phone reaches: services of its lease, through ports that adb forwards from the phone."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from foundation.errors import GuestCallError, UnsupportedError
from provisioning.reach.services import check_services

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from provisioning.phone.adb.device import AdbDevice
    from provisioning.protocols import Endpoints

_TIMEOUT_S = 10.0


class PhoneReach:
    """A `provisioning.protocols.Reach` by ``adb reverse``.

    All services share the phone's one loopback address, so no two may have the same port. A service
    that is withdrawn gets no new connections; a rewind ends those that are open.

    Source: AOSP ``SERVICES.TXT``, ``reverse:``.

    Args:
        device: returns the phone's ADB device.
        put_names: lets the phone look up exactly these names, all of them as itself.
    """

    def __init__(
        self, device: Callable[[], AdbDevice], put_names: Callable[[Collection[str]], None]
    ) -> None:
        self._device = device
        self._put_names = put_names
        self._lock = threading.Lock()
        self._services: Mapping[str, Endpoints] = {}

    def serve(self, services: Mapping[str, Endpoints]) -> None:
        """Let the phone's programs reach exactly these services; see `Reach`.

        Raises:
            UnsupportedError: two services have the same port for different addresses, or the phone cannot look up names.
        """
        check_services(services)
        _check_ports(services)
        with self._lock:
            self._services = dict(services)
            self._apply()

    def stop(self) -> None:
        """Let the phone's programs reach nothing of their lease any more; see `Reach`."""
        with self._lock:
            if self._services:
                self._services = {}
                self._apply()

    def resume(self) -> None:
        """Forward everything again, after the phone was rewound.

        Raises:
            LinkError: the phone does not answer.
        """
        with self._lock:
            if self._services:
                self._apply()

    def close(self) -> None:
        """Forget all services, because the phone is given away; its next rewind ends them there."""
        with self._lock:
            self._services = {}

    def _apply(self) -> None:
        self._ask("killforward-all")
        places = {port: place for each in self._services.values() for port, place in each.items()}
        for port, (host, host_port) in places.items():
            self._ask(f"forward:tcp:{port};tcp:{host}:{host_port}")
        self._put_names(tuple(self._services))

    def _ask(self, request: str) -> None:
        device = self._device()
        reply = device.read_service(f"reverse:{request}", _TIMEOUT_S)
        if not reply.startswith(b"OKAY"):
            raise GuestCallError(
                f"The phone {device.serial} refused {request!r}.",
                details=reply[:500].decode(errors="replace"),
            )


def _check_ports(services: Mapping[str, Endpoints]) -> None:
    taken: dict[int, tuple[str, tuple[str, int]]] = {}
    for name, endpoints in services.items():
        for port, place in endpoints.items():
            other, taken_place = taken.setdefault(port, (name, place))
            if taken_place != place:
                raise UnsupportedError(
                    f"A phone cannot reach both {other} and {name} at port {port}.",
                    details="All services share the phone's one loopback address.",
                    resolution="Give one of them another port.",
                )
