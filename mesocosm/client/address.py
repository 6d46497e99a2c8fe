"""Where the service is, and the token for it: arguments, environment, state folder of this host."""

from __future__ import annotations

import ipaddress
import os
import re
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

from mesocosm.client.errors import AddressError, TokenError

URL = "MESOCOSM_SERVER"
TOKEN = "MESOCOSM_TOKEN"  # noqa: S105 - its name
_PORT = "MESOCOSM_SERVICE_PORT"
_STATE_DIR = "MESOCOSM_STATE_DIR"
_DEFAULT_PORT = "9465"
_DEFAULT_STATE_DIR = "/var/lib/mesocosm"
_TOKEN_CHARACTERS = re.compile(r"[!-~]+")
"""Visible ASCII: anything else is no part of a header, or ends it."""


@dataclass(frozen=True, slots=True)
class Address:
    """A service and the token for it.

    Attributes:
        base: URL of the service, without a trailing slash.
        token: its token; not shown.
    """

    base: str
    token: str = field(repr=False)

    @property
    def is_loopback(self) -> bool:
        """Whether the service is reached through this host's loopback."""
        return _is_loopback(self.base)


def find_address(url: str | None = None, token: str | None = None) -> Address:
    """Complete an address from the environment and, for this host's service, its state folder.

    Args:
        url: such as ``https://bench.example.org:9465``; by default ``MESOCOSM_SERVER``, or this
            host's service.
        token: by default ``MESOCOSM_TOKEN``, or this host's token.

    Raises:
        AddressError: the URL is invalid.
        TokenError: there is no token, or it cannot be sent.
    """
    port = os.environ.get(_PORT, _DEFAULT_PORT)
    base = (url or os.environ.get(URL) or f"http://127.0.0.1:{port}").rstrip("/")
    parts = urllib.parse.urlsplit(base)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query:
        raise AddressError(
            f"{base!r} is not the address of a service.",
            resolution="Use https://HOST:PORT, or http:// for this host or a tunnel.",
        )
    if re.search(r"/api(/v\d+)?$", parts.path):
        raise AddressError(
            f"{base!r} has the path of the API, which the client adds itself.",
            resolution=f"Use {base[: base.rindex('/api')]}.",
        )
    given = (token or os.environ.get(TOKEN) or "").strip()
    return Address(base, _checked(given or _token_of_host(base)))


def _checked(token: str) -> str:
    """Return the token; errors do not contain it."""
    if not _TOKEN_CHARACTERS.fullmatch(token):
        raise TokenError(
            "The token has characters that no token has, such as spaces or line breaks.",
            resolution=f"Copy it again, in one line, to {TOKEN}.",
        )
    return token


def _token_of_host(base: str) -> str:
    path = Path(os.environ.get(_STATE_DIR, _DEFAULT_STATE_DIR)) / "service/token"
    create = "`mesocosm service token add NAME --role operate` prints one on the service's host."
    if not _is_loopback(base):
        raise TokenError(f"There is no token for {base}.", f"{TOKEN} is not set.", create)
    try:
        token = path.read_text(encoding="utf-8").strip()
    except OSError as exc:
        raise TokenError(
            f"There is no token for {base}.",
            f"{TOKEN} is not set, and {path} cannot be read: {exc.strerror}.",
            create,
        ) from exc
    if not token:
        raise TokenError(f"There is no token for {base}.", f"{path} is empty.", create)
    return token


def _is_loopback(base: str) -> bool:
    host = urllib.parse.urlsplit(base).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
