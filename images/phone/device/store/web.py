"""What the Browser knows of the web: names of services, trusted certificates, cookies."""

from __future__ import annotations

import http.cookiejar
import ssl
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from images.phone.device.names import make_opener

if TYPE_CHECKING:
    from collections.abc import Collection

    from images.phone.device.store.database import Store

_AUTHORITY = ("device", "authority")


@dataclass
class Web:
    """What requests need.

    Attributes:
        names: names of services that the phone's own ports lead to.
        authority: PEM of a certificate authority to trust, besides those of the system.
        cookies: cookies of all sites.
    """

    names: Collection[str] = ()
    authority: str = ""
    cookies: http.cookiejar.CookieJar = field(default_factory=http.cookiejar.CookieJar)

    def opener(self) -> urllib.request.OpenerDirector:
        """Return what opens URLs.

        Raises:
            ValueError: the authority is not a certificate.
        """
        trust = ssl.create_default_context()
        if self.authority:
            trust.load_verify_locations(cadata=self.authority)
        return make_opener(self.names, trust, urllib.request.HTTPCookieProcessor(self.cookies))


def load_web(store: Store, names: Collection[str]) -> Web:
    """Return what the phone knows."""
    web = Web(names, store.setting(*_AUTHORITY))
    for row in store.rows("SELECT * FROM cookie"):
        web.cookies.set_cookie(_make_cookie(row["host"], row["name"], row["value"], row["path"]))
    return web


def keep_cookies(store: Store, web: Web) -> None:
    """Remember the cookies; they last until the phone is reset, or a site deletes them."""
    rows = {
        (cookie.domain, cookie.name): (cookie.value or "", cookie.path) for cookie in web.cookies
    }
    known = {
        (row["host"], row["name"]): (row["value"], row["path"])
        for row in store.rows("SELECT * FROM cookie")
    }
    if rows == known:
        return
    store.change("DELETE FROM cookie")
    for key, values in rows.items():
        store.change("INSERT INTO cookie VALUES (?, ?, ?, ?)", (*key, *values))


def trust(store: Store, authority: str) -> None:
    """Trust a certificate authority.

    Raises:
        ValueError: the text is not the PEM of a certificate.
    """
    try:
        ssl.create_default_context().load_verify_locations(cadata=authority)
    except ssl.SSLError as exc:
        raise ValueError("this is not a certificate") from exc
    store.put_setting(*_AUTHORITY, authority)


def _make_cookie(host: str, name: str, value: str, path: str) -> http.cookiejar.Cookie:
    return http.cookiejar.Cookie(
        version=0,
        name=name,
        value=value,
        port=None,
        port_specified=False,
        domain=host,
        domain_specified=host.startswith("."),
        domain_initial_dot=host.startswith("."),
        path=path,
        path_specified=True,
        secure=False,
        expires=None,
        discard=True,
        comment=None,
        comment_url=None,
        rest={},
    )
