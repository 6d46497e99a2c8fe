"""Pass the appliance's requests on to the sites, at a host name that no machine reaches them by."""

from __future__ import annotations

import http.client

HOST = "control"
"""Apache passes on only the names of sites; see images/world/etc/apache.conf."""
PORT = 8070
_TIMEOUT_S = 30.0


def ask_site(method: str, path: str, body: bytes) -> tuple[int, str, bytes]:
    """Return status, type and content of the answer.

    Raises:
        OSError: the sites do not answer.
    """
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=_TIMEOUT_S)
    headers = {"Host": HOST, "Content-Type": "application/json"}
    try:
        connection.request(method, path, body=body, headers=headers)
        reply = connection.getresponse()
        data = reply.read()
    except http.client.HTTPException as exc:
        raise OSError(str(exc)) from exc
    finally:
        connection.close()
    return reply.status, reply.getheader("Content-Type", ""), data
