"""Read the servers of a running world, with the account of its person."""

from __future__ import annotations

import contextlib
import imaplib
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import httpx2
from imap_tools import MailBoxUnencrypted
from imap_tools.errors import ImapToolsError
from pydantic import TypeAdapter

from evaluators.world.records import Page, StoredMail, StoredOrder
from foundation.errors import EvaluationError, LinkClosedError, LinkProtocolError
from provisioning.world.persona.words.sites import CLOUD, HOSTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from imap_tools import BaseMailBox

    from provisioning.world.resource import World

IMAP, HTTP = 143, 80
MAX_BYTES = 32 << 20
"""Largest file, page or collection that is read."""
_MAX_MAILS = 20_000
_TIMEOUT_S = 20.0
_OK, _NOT_FOUND = 200, 404
_ORDERS = TypeAdapter(list[StoredOrder])


class WorldServers:
    """An `evaluators.world.view.WorldSource` of a running world.

    Args:
        world: the world.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    @property
    def seed(self) -> int:
        """Return the seed of its persona."""
        return self._world.seed

    def folders(self) -> Sequence[str]:
        """Return the names of the mailbox's folders."""
        with self._mailbox() as mailbox:
            return sorted(folder.name for folder in mailbox.folder.list())

    def heads(self, folder: str) -> Sequence[StoredMail] | None:
        """Return the mails of a folder with their headers only; None if there is no such folder."""
        with self._mailbox() as mailbox:
            if not mailbox.folder.exists(folder):
                return None
            mailbox.folder.set(folder, readonly=True)
            messages = mailbox.fetch(
                headers_only=True, mark_seen=False, bulk=True, limit=_MAX_MAILS
            )
            return [
                StoredMail(message.uid or "", tuple(message.flags), message.obj.as_bytes())
                for message in messages
            ]

    def mail(self, folder: str, uid: str) -> bytes | None:
        """Return the source of a mail; None if it is not there any more."""
        with self._mailbox() as mailbox:
            mailbox.folder.set(folder, readonly=True)
            found = mailbox.client.uid("FETCH", uid, "(BODY.PEEK[])")[1]
            parts = [row[1] for row in found if isinstance(row, tuple)]
            return bytes(parts[0]) if parts else None

    def outside(self) -> Sequence[bytes]:
        """Return the sources of the mails that left the world, the oldest first."""
        return self._world.control.outside()

    def collection(self, name: str) -> str | None:
        """Return all members of a calendar or address book; None if it does not exist."""
        data = self._get_own(f"/dav/{self._world.persona.person.email}/{quote(name)}/")
        return None if data is None else data.decode(errors="replace")

    def file(self, path: str) -> bytes | None:
        """Return the content of a file in the person's folder; None if it does not exist."""
        return self._get_own(f"/files/{quote(path)}")

    def orders(self) -> Sequence[StoredOrder]:
        """Return the orders in the shop, the latest first."""
        return _ORDERS.validate_json(self._world.control.ask_site("GET", "/shop/orders"))

    def page(self, url: str) -> Page:
        """Return a page of a site, which is opened without an account.

        Raises:
            EvaluationError: the address is not that of a site of the world.
        """
        parts = urlsplit(url)
        if parts.hostname not in HOSTS or parts.scheme not in {"http", "https"}:
            raise EvaluationError(f"{url} is not the address of a page in a world.")
        path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        status, data = self._get(parts.hostname, path, follow=True)
        return Page(status, data.decode(errors="replace"))

    def _get_own(self, path: str) -> bytes | None:
        account = self._world.control.account()
        status, data = self._get(CLOUD, path, auth=(account.email, account.password))
        if status == _NOT_FOUND:
            return None
        if status != _OK:
            raise LinkProtocolError(f"The world answered {status} to {path}.")
        return data

    def _get(
        self, host: str, path: str, *, auth: tuple[str, str] | None = None, follow: bool = False
    ) -> tuple[int, bytes]:
        address, port = self._world.endpoints[HTTP]
        base = f"http://{address}:{port}"
        try:
            with (
                httpx2.Client(timeout=_TIMEOUT_S, auth=auth, trust_env=False) as client,
                client.stream("GET", base + path, headers={"Host": host}) as reply,
            ):
                data = _read(reply)
                place = reply.headers.get("Location", "")
        except httpx2.HTTPError as exc:
            raise LinkClosedError(f"{host} does not answer.", str(exc)) from exc
        if follow and reply.is_redirect and place.startswith("/"):
            return self._get(host, place)
        return reply.status_code, data

    @contextlib.contextmanager
    def _mailbox(self) -> Iterator[BaseMailBox]:
        address, port = self._world.endpoints[IMAP]
        account = self._world.control.account()
        try:
            mailbox = MailBoxUnencrypted(address, port, timeout=_TIMEOUT_S)
            with mailbox.login(account.email, account.password, initial_folder=None):
                yield mailbox
        except (OSError, imaplib.IMAP4.error, ImapToolsError) as exc:
            raise LinkClosedError(
                "The mail server of the world does not answer.", str(exc)
            ) from exc


def _read(reply: httpx2.Response) -> bytes:
    data = b""
    for part in reply.iter_bytes():
        data += part
        if len(data) > MAX_BYTES:
            raise EvaluationError(f"A file of a world has more than {MAX_BYTES >> 20} MiB.")
    return data
