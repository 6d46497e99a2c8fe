"""Sign the Browser in to the sites of the account."""

from __future__ import annotations

import urllib.error
import urllib.parse
from typing import TYPE_CHECKING

from images.phone.device.store.web import keep_cookies, load_web
from images.phone.device.sync.account import TIMEOUT_S, writing

if TYPE_CHECKING:
    from images.phone.device.phone import Phone
    from images.phone.device.sync.account import Account

SITES = ("mail", "shop", "code", "pictures", "maps", "docs", "news")


def sign_in_to_sites(phone: Phone, account: Account, epoch: int) -> None:
    """Sign in to all sites; the Browser then has their cookies, with and without TLS.

    Args:
        phone: the phone.
        account: the account.
        epoch: first part of the version of the state.

    Raises:
        OSError: a site does not answer, or refuses.
    """
    with phone.lock:
        web = load_web(phone.store, phone.names)
    form = {"email": account.email, "password": account.password, "after": "/"}
    data = urllib.parse.urlencode(form).encode()
    for site in SITES:
        url = f"http://{site}.example/sign-in"
        with web.opener().open(url, data, timeout=TIMEOUT_S) as answer:
            answer.read()
    with writing(phone, epoch):
        keep_cookies(phone.store, web)
