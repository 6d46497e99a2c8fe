"""Forwards a guest's connections to one of its loopback ports to this side, over SSH."""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import TYPE_CHECKING

from foundation.errors import LinkClosedError, LinkError
from foundation.logging import suppress_logged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import paramiko

    from provisioning.protocols import Stream

    Serve = Callable[[Stream], None]

_log = logging.getLogger(__name__)

PROXY_PORT = 3128
"""Port that SSH servers of desktop guests can forward; see ``images/desktop/files/sshd.conf``."""


@contextlib.contextmanager
def guest_port(
    transport: paramiko.Transport | None, serve: Serve, *, port: int = PROXY_PORT
) -> Iterator[int]:
    """Listen on a guest's loopback for the duration of a block.

    Args:
        transport: transport of a session with the guest; stays open.
        serve: called with each connection, in a separate thread; closes the connection.
        port: port in the guest; 0 lets the guest choose.

    Yields:
        The port.

    Raises:
        LinkClosedError: the session is closed.
        LinkError: the guest's SSH server refuses to forward a port.
    """
    import paramiko  # noqa: PLC0415 - 0.1 s, needed only where SSH is used

    if transport is None:
        raise LinkClosedError("The SSH connection to the guest is closed.")

    def take(channel: paramiko.Channel, _origin: object, _server: object) -> None:
        threading.Thread(target=serve, args=(channel,), name="egress", daemon=True).start()

    try:
        bound_port = transport.request_port_forward("127.0.0.1", port, take)
    except (paramiko.SSHException, OSError, EOFError) as exc:
        raise LinkError("The guest refused to forward a port.", details=str(exc)) from exc
    try:
        yield bound_port
    finally:
        ended = (paramiko.SSHException, OSError, EOFError)
        with suppress_logged(_log, "cancel a forwarded port", *ended):
            transport.cancel_port_forward("127.0.0.1", bound_port)
