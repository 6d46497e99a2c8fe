"""What a desktop reaches: the services of its lease by name, and functions of this process."""

from __future__ import annotations

import contextlib
import secrets
import threading
from typing import TYPE_CHECKING

from provisioning.probe.streams.frames import NONCE_BYTES
from provisioning.reach.services import check_services, place_local, place_services
from provisioning.reach.session import ReachSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from provisioning.links.transport import Transport
    from provisioning.protocols import Endpoints, Stream
    from provisioning.reach.services import Service

    OpenTransport = Callable[[bytes], Transport]

# Python's start in a guest takes a second under emulation.
_SET_UP_TIMEOUT_S = 30.0


class GuestReach:
    """A `provisioning.protocols.Reach` over one channel to the guest's probe.

    Thread-safe. There is no session while nothing is to be reached.

    Args:
        open_transport: starts the guest's end, which begins with the given nonce, and connects to it.
        name: name of the machine, for errors.
    """

    def __init__(self, open_transport: OpenTransport, *, name: str) -> None:
        self._open_transport = open_transport
        self._name = name
        self._lock = threading.RLock()
        self._named: tuple[Service, ...] = ()
        self._local: tuple[Service, ...] = ()
        self._session: ReachSession | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the services that the guest reaches."""
        return tuple(service.key for service in self._named)

    @property
    def why_ended(self) -> str:
        """Return why nothing can be reached although it should be; empty if all is well."""
        session = self._session
        return session.why_ended if session is not None else ""

    def serve(self, services: Mapping[str, Endpoints]) -> None:
        """Let the machine's programs reach exactly these services; see `Reach`."""
        check_services(services)
        with self._lock:
            self._named = place_services(services)
            self._apply()

    def stop(self) -> None:
        """Let the machine's programs reach nothing of their lease any more; see `Reach`."""
        with self._lock:
            self._named = ()
            self._withdraw()

    @contextlib.contextmanager
    def serve_local(self, port: int, serve: Callable[[Stream], None]) -> Iterator[None]:
        """Serve connections to a port of 127.0.0.1 in the guest for the duration of a block.

        Args:
            port: the guest's port.
            serve: called with each connection, in a separate thread; closes the connection.

        Raises:
            LinkError: the guest does not answer.
            MachineError: the guest cannot listen on the port.
        """
        service = place_local(port, serve)
        with self._lock:
            self._local = (*self._local, service)
            try:
                self._apply()
            except BaseException:
                self._drop_local(service)
                raise
        try:
            yield
        finally:
            with self._lock:
                self._drop_local(service)
                self._withdraw()

    def suspend(self) -> None:
        """End the session, before the machine is rewound; nothing is forgotten."""
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None

    def resume(self) -> None:
        """Begin a session again if something is to be reached, after the machine was rewound.

        Raises:
            LinkError: the guest does not answer.
            MachineError: the guest cannot listen.
        """
        with self._lock:
            self._apply()

    def close(self) -> None:
        """End the session and forget all services, because the machine is given away."""
        with self._lock:
            self._named = self._local = ()
            self.suspend()

    def _apply(self) -> None:
        """Let the guest listen for what is to be reached, in a new session if there is none."""
        services = (*self._named, *self._local)
        if services and (self._session is None or self._session.why_ended):
            self.suspend()
            nonce = secrets.token_bytes(NONCE_BYTES)
            self._session = ReachSession(self._open_transport(nonce), nonce, name=self._name)
        if self._session is None:
            return
        try:
            # Also without services: the guest then has removed their names when this returns.
            self._session.set_up(services, timeout_s=_SET_UP_TIMEOUT_S)
        except BaseException:
            self.suspend()
            raise
        if not services:
            self.suspend()

    def _withdraw(self) -> None:
        """Let the guest know that something is not to be reached any more, if it still listens."""
        if self._session is not None and self._session.why_ended:
            self.suspend()
        if self._session is not None:
            self._apply()

    def _drop_local(self, service: Service) -> None:
        self._local = tuple(other for other in self._local if other is not service)
