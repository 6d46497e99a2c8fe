"""Offers a guest's programs an HTTP proxy on the guest's loopback."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from foundation.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from provisioning.protocols import Commands, Stream
    from provisioning.reach.guest import GuestReach

PROXY_PORT = 3128
"""The proxy's port in guests."""

_SCHEMA = "org.gnome.system.proxy"
# GNOME's default, to which the names of services are added.
_DIRECT = ("localhost", "127.0.0.0/8", "::1")
_TIMEOUT_S = 30.0


@contextlib.contextmanager
def open_guest_proxy(
    reach: GuestReach, commands: Commands, serve: Callable[[Stream], None]
) -> Iterator[None]:
    """Serve the proxy's port and set GNOME's proxy, which browsers and new terminals use.

    Services of the lease are reached without the proxy. The settings are not restored; the machine's
    reset does that.

    Args:
        reach: what the guest reaches.
        commands: runs programs as the agent's user.
        serve: called with each connection.

    Raises:
        LinkError: the guest does not answer.
        MachineError: the guest cannot listen on the port, or does not accept the settings.
    """
    with reach.serve_local(PROXY_PORT, serve):
        _point_at(commands, PROXY_PORT, (*_DIRECT, *reach.names))
        yield


def _point_at(commands: Commands, port: int, direct: tuple[str, ...]) -> None:
    settings = [(_SCHEMA, "mode", "manual"), (_SCHEMA, "ignore-hosts", str(list(direct)))]
    for scheme in ("http", "https"):
        settings += [(f"{_SCHEMA}.{scheme}", "host", "127.0.0.1")]
        settings += [(f"{_SCHEMA}.{scheme}", "port", str(port))]
    for setting in settings:
        result = commands.run(["gsettings", "set", *setting], timeout_s=_TIMEOUT_S)
        if result.exit_code != 0:
            message = result.stderr.decode(errors="replace")
            raise MachineError(
                f"The guest did not accept the setting {' '.join(setting)}.", details=message
            )
