"""Agents that are HTTP endpoints of the user: each message is a request, each turn a response."""

from __future__ import annotations

import http.client
import json
import logging
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from controller.agents.custom.messages import MAX_LINE_BYTES, observation_message, start_message
from controller.agents.custom.turns import as_turn
from controller.specification.agent import HttpSpec, without_credentials
from foundation.errors import AgentError, RequirementError, UsageError

if TYPE_CHECKING:
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext, MakeAgent, Turn

_LOG = logging.getLogger(__name__)
_SCHEMES = ("http://", "https://")
_CONNECT_S, _END_S = 10.0, 2.0
_ANSWER_S = 3600.0
"""Longer than any trial: the trial's own limits end a call that is not answered."""
_OK, _NO_CONTENT = 200, 204
_SHOWN_CHARS = 200


def is_endpoint(name: str) -> bool:
    """Return whether an agent's name is the address of an endpoint."""
    return name.startswith(_SCHEMES)


def specify_endpoint(url: str) -> HttpSpec:
    """Return the specification of an endpoint.

    Raises:
        UsageError: the address is invalid, or contains credentials.
    """
    try:
        is_valid = bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except ValueError:
        is_valid = False
    if not is_valid or without_credentials(url) != url:
        # The address is not repeated here: it may contain a password.
        raise UsageError(
            "The agent's address is invalid, or has credentials or a query.",
            resolution="Write it as http://HOST:PORT/PATH.",
        )
    return HttpSpec(url=url)


def make_http_agent(spec: HttpSpec) -> MakeAgent:
    """Return a factory for the agent of a trial."""
    return lambda context: HttpAgent(context, spec.url)


def require_endpoint(spec: HttpSpec) -> str:
    """Connect to an endpoint, without sending a request; return a summary.

    Raises:
        RequirementError: nothing listens there.
    """
    connection = _connection(spec.url, _CONNECT_S)
    try:
        connection.connect()
    except OSError as exc:
        raise RequirementError(
            f"No agent answers at {spec.url}.",
            details=str(exc),
            resolution="Start the agent's server, or correct --agent.",
        ) from exc
    finally:
        connection.close()
    return f"{spec.url} accepts connections"


class HttpAgent:
    """Posts observations to an endpoint and receives its turns.

    Args:
        context: context of the trial.
        url: the endpoint.
    """

    def __init__(self, context: AgentContext, url: str) -> None:
        self._context = context
        self._url = url
        self._session = secrets.token_hex(8)
        self._has_begun = False

    def act(self, observation: Observation) -> Turn:
        """Send the observation and return the endpoint's turn.

        Raises:
            AgentError: the endpoint does not answer, or not with a turn.
        """
        if not self._has_begun:
            self._post(start_message(self._context), _ANSWER_S)
            self._has_begun = True
        body = self._post(observation_message(observation), _ANSWER_S)
        try:
            turn: object = json.loads(body)
        except (ValueError, RecursionError) as exc:
            raise AgentError(
                f"The agent's endpoint answered an observation with no JSON: {_shown(body)!r}",
                details=str(exc),
                resolution="Answer each observation with a turn; see docs/agents.md.",
            ) from None
        return as_turn(turn)

    def close(self) -> None:
        """Tell the endpoint that the trial is over."""
        if self._has_begun:
            try:
                self._post({"type": "end"}, _END_S)
            except AgentError as exc:
                _LOG.info("the agent was not told the end: %s", exc)

    def _post(self, message: dict[str, Any], timeout_s: float) -> bytes:
        body = json.dumps({**message, "session": self._session}, separators=(",", ":")).encode()
        connection = _connection(self._url, timeout_s)
        try:
            connection.request(
                "POST", _target(self._url), body, {"Content-Type": "application/json"}
            )
            response = connection.getresponse()
            data = response.read(MAX_LINE_BYTES + 1)
        except (OSError, http.client.HTTPException) as exc:
            text = str(exc) or type(exc).__name__
            raise AgentError(f"The agent's endpoint {self._url} does not answer.", text) from exc
        finally:
            connection.close()
        if response.status not in {_OK, _NO_CONTENT}:
            raise AgentError(
                f"The agent's endpoint answered with HTTP status {response.status}.", _shown(data)
            )
        if len(data) > MAX_LINE_BYTES:
            raise AgentError(f"The agent's endpoint answered more than {MAX_LINE_BYTES} bytes.")
        return data


def _connection(url: str, timeout_s: float) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=timeout_s)


def _target(url: str) -> str:
    return urlsplit(url).path or "/"


def _shown(data: bytes) -> str:
    return data[:_SHOWN_CHARS].decode(errors="replace")
