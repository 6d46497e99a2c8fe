"""What services answer over HTTP, asked from the desktop.

No redirect is followed and no proxy used. A service that refuses the connection is unmet; one that
does not answer in 5 s, or not in HTTP, cannot be decided.
"""

from __future__ import annotations

import contextlib
import http.client
import json
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from evaluators.decorators import evaluator
from evaluators.desktop.data import exactly, json_object, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.probe.guest import Guest

_TIMEOUT_S = 5.0
_MAX_BYTES = 1 << 22
_OK = 200


class Answer(NamedTuple):
    """What a service says.

    Attributes:
        status: HTTP's; 0 when the connection was refused.
        body: None when there is more than 4 MiB.
    """

    status: int
    body: bytes | None


@evaluator(on="desktop")
def http_status_is(guest: Guest, url: str, status: int) -> bool:
    """Tell whether a service answers a GET with this status.

    Example:
        ``{on: desktop, check: http_status_is, with: {url: "http://localhost:8080/health", status:
        200}}``

    Args:
        guest: the desktop.
        url: the whole address, ``http`` or ``https``.
        status: such as 200; of a redirect, its own.
    """
    return ask("GET", url).status == status


@evaluator(on="desktop")
def http_text_equals(guest: Guest, url: str, text: str) -> bool:
    """Tell whether a service answers a GET with status 200 and exactly this text.

    White space at the ends does not count.

    Example:
        ``{on: desktop, check: http_text_equals, with: {url: "http://localhost:8080/", text: Hello}}``

    Args:
        guest: the desktop.
        url: the whole address, ``http`` or ``https``.
        text: the whole body, in UTF-8.
    """
    answer = ask("GET", url)
    if answer.status != _OK or answer.body is None:
        return False
    return answer.body.strip() == text.strip().encode()


@evaluator(on="desktop")
def http_json_equals(guest: Guest, url: str, pointer: str, value: object) -> bool:
    """Tell whether a service answers a GET with JSON that has this value at a place.

    Values are compared as by `json_value_equals`.

    Example:
        ``{on: desktop, check: http_json_equals, with: {url: "http://localhost:8080/items", pointer:
        /0/name, value: Milk}}``

    Args:
        guest: the desktop.
        url: the whole address, ``http`` or ``https``.
        pointer: a JSON pointer; the whole document when empty.
        value: any JSON value.
    """
    answer = ask("GET", url)
    if answer.status != _OK or answer.body is None:
        return False
    try:
        document = json.loads(answer.body, object_pairs_hook=json_object)
    except (ValueError, RecursionError):
        return False
    return exactly(resolve(document, pointer), value)


def ask(
    method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> Answer:
    """Send one request.

    Raises:
        ValueError: `url` is no address of HTTP.
        OSError: nobody answers.
        http.client.HTTPException: the answer is no HTTP.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{url!r} is no address of HTTP")
    is_safe = parts.scheme == "https"
    kind = http.client.HTTPSConnection if is_safe else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=_TIMEOUT_S)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with contextlib.closing(connection):
        try:
            connection.request(method, target, body or None, dict(headers or {}))
        except ConnectionRefusedError:
            return Answer(0, b"")
        response = connection.getresponse()
        data = response.read(_MAX_BYTES + 1)
        return Answer(response.status, data if len(data) <= _MAX_BYTES else None)
