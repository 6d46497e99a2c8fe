"""Offers a guest's programs an HTTP proxy on the guest's loopback."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from foundation.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from provisioning.links.ssh import SshSession
    from provisioning.protocols import Commands, Stream

_SCHEMA = "org.gnome.system.proxy"
_LOGIN_TIMEOUT_S = 60.0
_TIMEOUT_S = 30.0


@contextlib.contextmanager
def open_guest_proxy(
    login: Callable[..., SshSession], commands: Commands, serve: Callable[[Stream], None]
) -> Iterator[None]:
    """Forward the proxy's port and set GNOME's proxy, which browsers and new terminals use.

    The settings are not restored; the machine's reset does that.

    Args:
        login: opens an SSH session as root, which stays open for the duration of the block.
        commands: runs programs as the agent's user.
        serve: called with each connection.

    Raises:
        LinkError: the guest cannot be reached, or refuses to forward a port.
        MachineError: the guest does not accept the settings.
    """
    with login(timeout_s=_LOGIN_TIMEOUT_S) as session, session.guest_port(serve) as port:
        _point_at(commands, port)
        yield


def _point_at(commands: Commands, port: int) -> None:
    settings = [(_SCHEMA, "mode", "manual")]
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
