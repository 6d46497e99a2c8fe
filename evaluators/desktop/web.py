"""Evaluators of HTTP services, requested from the desktop as the agent's user.

Redirects are not followed and proxies are not used. A service that refuses the connection is unmet.
If a service does not reply within 5 s, or not in HTTP, the result is inconclusive; for a service on
the desktop itself, the check is unmet.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import http.client
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from evaluators.decorators import evaluator
from evaluators.desktop.data import exactly, parse_json, resolve
from evaluators.desktop.errors import as_agent, asking, is_own
from evaluators.desktop.page_title import title_of
from evaluators.desktop.urls import ServiceUrl, service_url
from evaluators.desktop.visible import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.probe.guest import Guest

_TIMEOUT_S = 5.0
_MAX_BYTES = 1 << 22
_OK = 200
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHARSETS = ("ascii", "big5", "cp", "euc", "gb", "iso", "koi8", "mac", "shift", "utf-16", "utf-8")
"""Prefixes of the names of character sets that browsers also support."""


class Answer(NamedTuple):
    """The reply of a service.

    Attributes:
        status: HTTP status; 0 if the connection was refused.
        body: body; None if it is larger than 4 MiB, shorter than announced, or has a content
            encoding, such as compression, which was not requested.
        charset: declared character set; UTF-8 by default.
        is_page: whether a browser would display the body as HTML.
    """

    status: int
    body: bytes | None
    charset: str = "utf-8"
    is_page: bool = False


@evaluator(on="desktop")
def http_status_is(guest: Guest, url: ServiceUrl, status: int) -> bool:
    """Return whether a service replies to a GET with the given status.

    Proves the state, not who caused it: on the desktop itself any program can be the service.

    Example:
        ``{on: desktop, check: http_status_is, with: {url: "http://localhost:8080/health", status:
        200}}``

    Args:
        guest: the desktop.
        url: the complete URL, ``http`` or ``https``; browsers' normalisation applies.
        status: status, such as 200; for a redirect, the status of the redirect itself.
    """
    return ask(guest, "GET", url).status == status


@evaluator(on="desktop")
def http_text_equals(guest: Guest, url: ServiceUrl, text: str) -> bool:
    """Return whether a service replies to a GET with status 200 and exactly the given text.

    White space at the ends and a byte order mark are ignored; CRLF counts as a newline. Proves the
    state,
    not who caused it.

    Example:
        ``{on: desktop, check: http_text_equals, with: {url: "http://localhost:8080/", text: Hello}}``

    Args:
        guest: the desktop.
        url: the complete URL, ``http`` or ``https``; browsers' normalisation applies.
        text: the complete body.
    """
    body = _text_in(ask(guest, "GET", url))
    return body is not None and _plain(body) == _plain(text)


@evaluator(on="desktop")
def http_text_contains(guest: Guest, url: ServiceUrl, text: str) -> bool:
    """Return whether a service replies to a GET with status 200 and a body that contains the given text.

    The comparison is case-sensitive; CRLF counts as a newline. An empty text is unmet. Proves the
    state, not who caused it.

    Example:
        ``{on: desktop, check: http_text_contains, with: {url: "http://localhost:8080/", text: Hello}}``

    Args:
        guest: the desktop.
        url: the complete URL, ``http`` or ``https``; browsers' normalisation applies.
        text: text that the body must contain, including markup.
    """
    body = _text_in(ask(guest, "GET", url))
    return bool(text) and body is not None and text.replace("\r\n", "\n") in _plain(body)


@evaluator(on="desktop")
def http_title_is(guest: Guest, url: ServiceUrl, title: str) -> bool:
    """Return whether a service replies to a GET with status 200 and a page with the given title.

    A page has the type ``text/html``, or no type, and is not an attachment. Its first ``title``
    element counts, outside of comments, scripts, pictures, text fields and other frames, and before
    any template, table, select element or formula; runs of white space count as one space. Later
    changes by scripts are not visible.
    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: http_title_is, with: {url: "http://localhost:8080/", title: My garden}}``

    Args:
        guest: the desktop.
        url: the complete URL, ``http`` or ``https``; browsers' normalisation applies.
        title: the complete title.
    """
    answer = ask(guest, "GET", url)
    page_title = title_of(_text_in(answer) or "") if answer.is_page else None
    return page_title is not None and shown(page_title) == shown(title)


@evaluator(on="desktop")
def http_json_equals(guest: Guest, url: ServiceUrl, pointer: str, value: object) -> bool:
    """Return whether a service replies to a GET with JSON that has the given value at the given position.

    Values are compared as in `json_value_equals`. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: http_json_equals, with: {url: "http://localhost:8080/items", pointer:
        /0/name, value: Milk}}``

    Args:
        guest: the desktop.
        url: the complete URL, ``http`` or ``https``; browsers' normalisation applies.
        pointer: a JSON pointer; empty for the whole document.
        value: any JSON value.
    """
    answer = ask(guest, "GET", url)
    if answer.status != _OK or answer.body is None:
        return False
    try:
        document = parse_json(answer.body)
    except ValueError:
        return False
    return exactly(resolve(document, pointer), value)


def _text_in(answer: Answer) -> str | None:
    """Return the body of a reply as text; None if its status is not 200 or its body is not text.

    A byte order mark overrides the declared character set, as in browsers.
    """
    if answer.status != _OK or answer.body is None:
        return None
    charset = next((name for mark, name in _MARKS if answer.body.startswith(mark)), answer.charset)
    try:
        is_known = codecs.lookup(charset).name.startswith(_CHARSETS)
        return answer.body.decode(charset) if is_known else None
    except (LookupError, ValueError):
        return None


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").strip()


def _is_unserved(exc: OSError, host: str) -> bool:
    """Return whether a connection error means that nothing listens there.

    A desktop without IPv6 rejects `localhost` twice, the second time because it does not have the
    address.
    """
    lacks = exc.errno == errno.EADDRNOTAVAIL and is_own(host)
    return lacks or isinstance(exc, ConnectionRefusedError)


def ask(
    guest: Guest,
    method: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Answer:
    """Send one request, as the agent's user.

    Raises:
        WrongArgumentError: `url` is not an HTTP URL.
        ObstructedError: a service on this desktop does not reply, or not in HTTP.
        ServerError: another service does not reply, or not in HTTP.
    """
    parts = urlsplit(service_url(url))
    host = parts.hostname or ""
    is_safe = parts.scheme == "https"
    kind = http.client.HTTPSConnection if is_safe else http.client.HTTPConnection
    connection = kind(host, parts.port, timeout=_TIMEOUT_S)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with asking(host), contextlib.closing(connection):
        try:
            with as_agent(guest):
                connection.connect()
            connection.request(method, target, body or None, dict(headers or {}))
        except OSError as exc:
            if _is_unserved(exc, host):
                return Answer(0, b"")
            raise
        response = connection.getresponse()
        data = response.read(_MAX_BYTES + 1)
        is_whole = len(data) <= _MAX_BYTES and not response.length and not _is_encoded(response)
        charset = response.headers.get_content_charset("utf-8")
        whole = data if is_whole else None
        return Answer(response.status, whole, charset, _is_page(response.headers))


def _is_encoded(response: http.client.HTTPResponse) -> bool:
    codings = response.headers.get_all("Content-Encoding", [])
    return any(coding.strip().lower() not in {"", "identity"} for coding in codings)


def _is_page(headers: http.client.HTTPMessage) -> bool:
    is_kept = headers.get_content_disposition() == "attachment"
    return not is_kept and (
        "Content-Type" not in headers or headers.get_content_type() == "text/html"
    )
