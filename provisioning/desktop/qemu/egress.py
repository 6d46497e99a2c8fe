"""Give a guest's programs a way to what its task allows: a proxy on the guest's own loopback."""

from __future__ import annotations

import base64
import contextlib
from typing import TYPE_CHECKING, cast

from appliance.base.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from provisioning.links.client import LinkClient
    from provisioning.links.ssh import SshSession
    from provisioning.protocols import Json, Stream

_USER = "user"
_SCHEMA = "org.gnome.system.proxy"
_LOGIN_TIMEOUT_S = 60.0
_TIMEOUT_S = 30.0


@contextlib.contextmanager
def let_out(
    login: Callable[..., SshSession], link: LinkClient, serve: Callable[[Stream], None]
) -> Iterator[None]:
    """Forward the proxy's port and set GNOME's proxy, which browsers and new terminals follow.

    Nothing is set back: the machine's reset does that.

    Args:
        login: opens an SSH session of root, which stays open for the length of the block.
        link: to the guest's probe.
        serve: called with each connection.

    Raises:
        LinkError: the guest cannot be reached, or lets no port be forwarded.
        MachineError: it does not take the settings.
    """
    with login(timeout_s=_LOGIN_TIMEOUT_S) as session, session.guest_port(serve) as port:
        _point_at(link, port)
        yield


def _point_at(link: LinkClient, port: int) -> None:
    settings = [(_SCHEMA, "mode", "manual")]
    for scheme in ("http", "https"):
        settings += [(f"{_SCHEMA}.{scheme}", "host", "127.0.0.1")]
        settings += [(f"{_SCHEMA}.{scheme}", "port", str(port))]
    for words in settings:
        argv: list[Json] = ["gsettings", "set", *words]
        params: dict[str, Json] = {"argv": argv, "user": _USER, "timeout_s": _TIMEOUT_S}
        reply = cast("dict[str, Json]", link.call("exec", params, timeout_s=_TIMEOUT_S + 5))
        if reply["exit_code"] != 0:
            said = base64.b64decode(str(reply["stderr_b64"])).decode(errors="replace")
            raise MachineError(f"The guest does not take {' '.join(words)}.", details=said)
