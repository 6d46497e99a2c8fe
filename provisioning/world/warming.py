"""Let a new world's servers read their state once, so that what they learn is part of its snapshot."""

from __future__ import annotations

import base64
import http.client
from typing import TYPE_CHECKING

from foundation.errors import MachineStartError
from provisioning.world.persona.model.calendar import Calendar
from provisioning.world.state.collections import CONTACTS

if TYPE_CHECKING:
    from provisioning.world.resource import World

_HTTP_PORT = 80
_TIMEOUT_S = 60.0
_MULTI_STATUS = 207
_LIST = b'<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>'


def warm(world: World) -> None:
    """Ask for all calendars and contacts, which Radicale parses when they are first listed.

    Raises:
        MachineStartError: a server gave another answer than expected.
    """
    person = world.persona.person
    login = base64.b64encode(f"{person.email}:{person.password}".encode()).decode()
    headers = {"Authorization": f"Basic {login}", "Depth": "1"}
    address, port = world.endpoints[_HTTP_PORT]
    for name in (*Calendar, CONTACTS):
        path = f"/dav/{person.email}/{name}/"
        connection = http.client.HTTPConnection(address, port, timeout=_TIMEOUT_S)
        try:
            connection.request("PROPFIND", path, body=_LIST, headers=headers)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as exc:
            raise MachineStartError(f"{world.info.machine_id} does not answer.", str(exc)) from exc
        finally:
            connection.close()
        if status != _MULTI_STATUS:
            message = f"{world.info.machine_id} answered {status} to PROPFIND {path}."
            raise MachineStartError(message)
