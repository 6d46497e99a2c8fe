"""Requests to the API of a service, and which service that is."""

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

from appliance.base.errors import MesocosmError, RequirementError, UsageError
from appliance.base.masking import redact

if TYPE_CHECKING:
    from http.client import HTTPMessage

OPTION = "--server"
TOKEN = "MESOCOSM_TOKEN"  # noqa: S105 - its name
_TIMEOUT_S = 60.0
_MAX_REPLY_BYTES = 256 << 20
_server: ContextVar[str] = ContextVar("server", default="")


class ServerError(MesocosmError):
    """The service on the other host refuses a request, or does not answer."""

    code = "server"


class ServerRefusalError(UsageError):
    """The service on the other host knows no such thing, or does not allow it now."""

    code = "server_refusal"


def choose_server(address: str) -> None:
    """Let the commands that can ask a service elsewhere; an empty address lets them work here."""
    _server.set(address)


def chosen_server() -> Client | None:
    """Return how to ask the service that the command line names; None where it names none.

    Raises:
        UsageError: its address is wrong, or there is no token.
    """
    return Client(_server.get(), os.environ.get(TOKEN, "")) if _server.get() else None


class Client:
    """Asks one service.

    Args:
        address: such as ``https://bench.example.org:9465``.
        token: of the service.

    Raises:
        UsageError: the address is wrong, or there is no token.
    """

    def __init__(self, address: str, token: str) -> None:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query:
            raise UsageError(
                f"{address!r} is no address of a service.",
                resolution="Write https://HOST:PORT, or http:// for one on this host or a tunnel.",
            )
        if not token:
            raise UsageError(
                f"{OPTION} needs a token of that service in {TOKEN}.",
                resolution="`mesocosm service token add NAME` on its host makes one.",
            )
        redact(token)
        self._base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/api/v1"
        self._token = token

    def get(self, path: str, **query: object) -> Any:  # noqa: ANN401 - JSON
        """Return what a path has; values of the query may be lists.

        Raises:
            ServerRefusalError: there is no such thing, or it is not allowed.
            ServerError: the service fails, or is not there.
            RequirementError: the token is not taken.
        """
        return self._ask("GET", f"{path}?{urllib.parse.urlencode(query, doseq=True)}", None)

    def post(self, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """Ask for something to be done; errors are those of `get`."""
        return self._ask("POST", path, body)

    def put(self, path: str, body: object) -> Any:  # noqa: ANN401 - JSON
        """Set something; errors are those of `get`."""
        return self._ask("PUT", path, body)

    def delete(self, path: str) -> None:
        """Remove something; errors are those of `get`."""
        self._ask("DELETE", path, None)

    def download(self, path: str, target: IO[bytes]) -> None:
        """Write what a path has to a file; errors are those of `get`."""
        target.write(self._send("GET", path, None))

    def _ask(self, method: str, path: str, body: object) -> Any:  # noqa: ANN401 - JSON
        data = self._send(method, path, body)
        try:
            return json.loads(data) if data else None
        except ValueError as exc:
            raise ServerError(f"{self._base} is no service of Mesocosm.", str(exc)) from exc

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
        hint = "Is the service up, and its port open? `mesocosm service start` on its host."
        if isinstance(reason, ssl.SSLError):
            hint = "Name a certificate of your own with the variable SSL_CERT_FILE."
        return ServerError(f"{self._base} does not answer.", str(reason), hint)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token is for one server."""

    def redirect_request(
        self, req: object, fp: object, code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        del req, fp, code, msg, headers, newurl


def _refusal(reply: urllib.error.HTTPError) -> MesocosmError:
    """Return the error that a service replied with, as its own commands would print it."""
    try:
        error = json.loads(reply.read(_MAX_REPLY_BYTES))["error"]
        texts = (str(error["brief"]), str(error["details"]), str(error["resolution"]))
    except (ValueError, KeyError, TypeError, OSError):
        return ServerError(f"The server answered with status {reply.code}, and no reason.")
    if reply.code in {http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN}:
        return RequirementError(texts[0], texts[1], texts[2] or f"See {TOKEN}.")
    if reply.code < http.HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerRefusalError(*texts)
    return ServerError(*texts)
