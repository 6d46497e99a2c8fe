"""URLs in tasks, as browsers normalise them.

Evaluators declare such an argument as `PageUrl`, `ServiceUrl` or `MailboxUrl`. Texts that are no such
URL are reported when a suite is read; values that are known only during a trial are errors of its
task.

Source: WHATWG's URL standard: parsing, and the percent-encode sets.
"""

from __future__ import annotations

import re
import string
from typing import Annotated
from urllib.parse import quote

from evaluators.desktop.errors import WrongArgumentError

PAGE_URL = "page-url"
"""Mark of arguments with a URL that a browser has loaded."""
SERVICE_URL = "service-url"
"""Mark of arguments with a URL that is requested over HTTP."""
MAILBOX_URL = "mailbox-url"
"""Mark of arguments with the URL of a mailbox."""
PageUrl = Annotated[str, PAGE_URL]
ServiceUrl = Annotated[str, SERVICE_URL]
MailboxUrl = Annotated[str, MAILBOX_URL]

_PORTS = {"http": "80", "https": "443", "ftp": "21", "imap": "143", "imaps": "993"}
"""Schemes of URLs with a host, and their default ports."""
_HTTP = ("http", "https")
_LAST_PORT = 65_535
_AROUND = "".join(map(chr, range(33)))
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+-]*(?=:(?![0-9]))")
_AUTHORITY = re.compile(
    r"//(?:(?P<user>[^/]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^/:@]*)(?::(?P<port>[^/]*))?(?P<path>/.*|\Z)",
    re.DOTALL,
)
_NO_HOST = re.compile(r"[\x00-\x20\"#%/:<>?@\[\\\]^`{|}\x7f]")
_AMBIGUOUS = re.compile("[\u00df\u03c2\u200c\u200d]")
"""Characters that browsers encode in a host name, but Python's codec replaces."""
_DOT, _DOTS = re.compile(r"\.|%2e", re.IGNORECASE), re.compile(r"(?:\.|%2e){2}", re.IGNORECASE)
_PRINTABLE = string.ascii_letters + string.digits + string.punctuation
_SAFE = {
    name: "".join(set(_PRINTABLE) - set(encoded))
    for name, encoded in {
        "user": '"#<>?^`{}/:;=@[\\]|',
        "path": '"#<>?^`{}',
        "query": "\"#<>'",
        "fragment": '"<>`',
    }.items()
}
"""ASCII characters that are not percent-encoded in each part."""


def page_url(url: str) -> str:
    """Return a URL as a browser stores it.

    Scheme and host are in lower case, the host in ASCII, the scheme's default port and dots in the
    path are removed, other characters are percent-encoded, and an empty path becomes ``/``. URLs
    without a host, such as ``about:home``, do not change.

    Raises:
        WrongArgumentError: it is not an absolute URL, or its path begins with ``//``.
    """
    text = re.sub(r"[\t\n\r]", "", url.strip(_AROUND))
    scheme = _SCHEME.match(text)
    if scheme is None:
        raise _wrong(url, "does not begin with a scheme, such as http://")
    name, rest = scheme[0].lower(), text[scheme.end() + 1 :]
    if name in _PORTS:
        return f"{name}:{_with_host(url, name, rest)}"
    if name == "file":
        return f"file:{_encoded(rest, 'path', keeps='?#')}"
    return f"{name}:{rest}"


def page_spellings(url: str) -> tuple[str, ...]:
    """Return the forms in which a browser may have stored a URL: with spaces as ``+`` or ``%20``.

    Forms encode spaces in a query as ``+``, address bars as ``%20``; servers see no difference.

    Raises:
        WrongArgumentError: see `page_url`.
    """
    head, mark, rest = page_url(url).partition("?")
    query, hash_mark, fragment = rest.partition("#")
    if "#" in head or not mark:
        return (head + mark + rest,)
    forms = (query, query.replace("%20", "+"), query.replace("+", "%20"))
    return tuple(f"{head}?{form}{hash_mark}{fragment}" for form in dict.fromkeys(forms))


def service_url(url: str) -> str:
    """Return the URL of an HTTP service, like `page_url`.

    Raises:
        WrongArgumentError: it is not an HTTP URL.
    """
    normal = page_url(url)
    if normal.partition(":")[0] not in _HTTP:
        raise _wrong(url, "is not an HTTP URL")
    return normal


def mailbox_url(url: str) -> str:
    """Return the URL of a mailbox, like `page_url`.

    Raises:
        WrongArgumentError: it is not ``imap:`` or ``imaps:`` with a host.
    """
    normal = page_url(url)
    if normal.partition(":")[0] not in {"imap", "imaps"}:
        raise _wrong(url, "is not imap://USER:PASSWORD@HOST:PORT")
    return normal


CHECKS = {PAGE_URL: page_url, SERVICE_URL: service_url, MAILBOX_URL: mailbox_url}
"""Functions that raise `WrongArgumentError` for wrong arguments, by their mark."""


def complaint(mark: str, url: str) -> str:
    """Return what is wrong with an argument; empty if nothing is.

    Args:
        mark: mark of the argument's type, one of `CHECKS`.
        url: its value.
    """
    try:
        CHECKS[mark](url)
    except WrongArgumentError as exc:
        return str(exc)
    return ""


def _wrong(url: str, what: str) -> WrongArgumentError:
    return WrongArgumentError(f"{url[:200]!r} {what}")


def _with_host(url: str, scheme: str, rest: str) -> str:
    """Return the normalised part of a URL after its scheme, which requires a host."""
    body, hash_mark, fragment = rest.partition("#")
    place, question, query = body.partition("?")
    authority = _AUTHORITY.match(place.replace("\\", "/"))
    if authority is None or not authority["host"]:
        raise _wrong(url, "has no host")
    user = _encoded(authority["user"], "user", keeps=":") + "@" if authority["user"] else ""
    path = authority["path"]
    if path.startswith("//"):
        raise _wrong(url, "has an empty name at the start of its path (//)")
    return "".join(
        (
            f"//{user}{_host(url, authority['host'])}{_port(url, scheme, authority['port'])}",
            _path(path),
            f"{question}{_encoded(query, 'query')}",
            f"{hash_mark}{_encoded(fragment, 'fragment')}",
        )
    )


def _host(url: str, host: str) -> str:
    if host.startswith("["):
        return host.lower()
    if _NO_HOST.search(host) or _AMBIGUOUS.search(host):
        raise _wrong(url, "has a wrong host; write it in ASCII (xn--...) if in doubt")
    try:
        return host.lower() if host.isascii() else host.encode("idna").decode().lower()
    except UnicodeError as exc:
        raise _wrong(url, "has a wrong host") from exc


def _port(url: str, scheme: str, port: str | None) -> str:
    """Return the port with its colon; empty for the scheme's default port."""
    if not port:
        return ""
    if not (port.isascii() and port.isdigit() and int(port[:9]) <= _LAST_PORT and len(port) <= 9):  # noqa: PLR2004
        raise _wrong(url, f"has a wrong port {port!r}")
    number = str(int(port))
    return "" if number == _PORTS[scheme] else f":{number}"


def _path(path: str) -> str:
    """Return a path with an initial slash and without dots, percent-encoded."""
    names: list[str] = []
    parts = path.split("/")[1:] or [""]
    for number, part in enumerate(parts):
        is_dots, is_last = _DOTS.fullmatch(part) is not None, number == len(parts) - 1
        if is_dots:
            del names[-1:]
        elif not _DOT.fullmatch(part):
            names.append(_encoded(part, "path"))
        if is_last and (is_dots or _DOT.fullmatch(part)):
            names.append("")
    return "/" + "/".join(names)


def _encoded(text: str, part: str, *, keeps: str = "") -> str:
    return quote(text, safe=_SAFE[part] + keeps)
