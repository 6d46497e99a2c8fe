"""Client for the API of a remote service, and the choice of that service."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
from contextvars import ContextVar
from typing import IO, TYPE_CHECKING, Any

from foundation.errors import MesocosmError, RequirementError, UsageError
from foundation.masking import redact

if TYPE_CHECKING:
    from http.client import HTTPMessage

OPTION = "--server"
TOKEN = "MESOCOSM_TOKEN"  # noqa: S105 - its name
_TIMEOUT_S = 60.0
_MAX_REPLY_BYTES = 256 << 20
_server: ContextVar[str] = ContextVar("server", default="")


class ServerError(MesocosmError):
    """The remote service failed, or does not answer."""

    code = "server"


class ServerRefusalError(UsageError):
    """The remote service does not have the requested object, or does not allow the request now."""

    code = "server_refusal"


def choose_server(address: str) -> None:
    """Set the address of the service that commands use; empty means this host."""
    _server.set(address)


def chosen_server() -> Client | None:
    """Return a client for the chosen service; None if no service was chosen.

    Raises:
        UsageError: its address is invalid, or there is no token.
    """
    return Client(_server.get(), os.environ.get(TOKEN, "")) if _server.get() else None


class Client:
    """Sends requests to one service.

    Args:
        address: such as ``https://bench.example.org:9465``.
        token: of the service.

    Raises:
        UsageError: the address is invalid, or there is no token.
    """

    def __init__(self, address: str, token: str) -> None:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query:
            raise UsageError(
                f"{address!r} is not a valid service address.",
                resolution="Use https://HOST:PORT, or http:// for this host or a tunnel.",
            )
        if not token:
            raise UsageError(
                f"{OPTION} requires a token of that service in {TOKEN}.",
                resolution="To create one, run `mesocosm service token add NAME` on its host.",
            )
        redact(token)
        self._base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/api/v1"
        self._token = token

    def get(self, path: str, **query: object) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON content of a path; query values may be lists.

        Raises:
            ServerRefusalError: the object does not exist, or the request is not allowed.
            ServerError: the service failed, or does not answer.
            RequirementError: the token was rejected.
        """
        return self._ask("GET", f"{path}?{urllib.parse.urlencode(query, doseq=True)}", None)

    def post(self, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """Send a POST request; errors are those of `get`."""
        return self._ask("POST", path, body)

    def put(self, path: str, body: object) -> Any:  # noqa: ANN401 - JSON
        """Send a PUT request; errors are those of `get`."""
        return self._ask("PUT", path, body)

    def delete(self, path: str) -> None:
        """Send a DELETE request; errors are those of `get`."""
        self._ask("DELETE", path, None)

    def download(self, path: str, target: IO[bytes]) -> None:
        """Write the content of a path to a file; errors are those of `get`."""
        target.write(self._send("GET", path, None))

    def _ask(self, method: str, path: str, body: object) -> Any:  # noqa: ANN401 - JSON
        data = self._send(method, path, body)
        try:
            return json.loads(data) if data else None
        except ValueError as exc:
            raise ServerError(f"{self._base} is not a Mesocosm service.", str(exc)) from exc

    def _send(self, method: str, path: str, body: object) -> bytes:
        headers = {"Authorization": f"Bearer {self._token}"}
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(  # noqa: S310 - http or https, see above
            self._base + path, content, headers, method=method
        )
        opener = urllib.request.build_opener(_NoRedirect)
        try:
            with opener.open(request, timeout=_TIMEOUT_S) as reply:
                data: bytes = reply.read(_MAX_REPLY_BYTES)
                return data
        except urllib.error.HTTPError as exc:
            with exc:
                raise _refusal(exc) from exc
        except (OSError, http.client.HTTPException) as exc:
            raise self._unreachable(exc) from exc

    def _unreachable(self, error: Exception) -> ServerError:
        reason = getattr(error, "reason", error)
        hint = (
            "Check that its port is open and the service runs (`mesocosm service start` on its "
            "host)."
        )
        if isinstance(reason, ssl.SSLError):
            hint = "To trust your own certificate, set the variable SSL_CERT_FILE to its file."
        return ServerError(f"{self._base} does not answer.", str(reason), hint)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Handler that does not follow redirects: the token is for one server only."""

    def redirect_request(
        self, req: object, fp: object, code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        del req, fp, code, msg, headers, newurl


def _refusal(reply: urllib.error.HTTPError) -> MesocosmError:
    """Return the error from a service's reply, as commands on its host would print it."""
    try:
        error = json.loads(reply.read(_MAX_REPLY_BYTES))["error"]
        texts = (str(error["brief"]), str(error["details"]), str(error["resolution"]))
    except (ValueError, KeyError, TypeError, OSError):
        return ServerError(f"The server answered with status {reply.code} and no error message.")
    if reply.code in {http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN}:
        return RequirementError(texts[0], texts[1], texts[2] or f"See {TOKEN}.")
    if reply.code < http.HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerRefusalError(*texts)
    return ServerError(*texts)
