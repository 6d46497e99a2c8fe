"""Synchronise the phone with its account every few seconds."""

from __future__ import annotations

import http.client
import imaplib
import smtplib
import threading
from typing import TYPE_CHECKING

from images.phone.device.sync.account import Account, load_account, save_account
from images.phone.device.sync.collections import CollectionSync
from images.phone.device.sync.files import FileSync
from images.phone.device.sync.mail import MailSync
from images.phone.device.sync.sites import sign_in_to_sites

if TYPE_CHECKING:
    from images.phone.device.phone import Phone

EVERY_S = 3.0
FAULTS = (
    OSError,
    ValueError,
    http.client.HTTPException,
    imaplib.IMAP4.error,
    smtplib.SMTPException,
)
"""What the servers, or what they send, can raise."""


class Syncer:
    """Synchronises in the background, if the phone is signed in.

    Args:
        phone: the phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._parts: tuple[MailSync, CollectionSync, FileSync] | None = None
        self._of: tuple[int, Account] | None = None
        self._thread = threading.Thread(target=self._run, name="syncer", daemon=True)

    def start(self) -> None:
        """Start synchronising."""
        self._thread.start()

    def stop(self) -> None:
        """Stop synchronising."""
        self._stopped.set()
        self._thread.join()

    def sign_in(self, email: str, password: str) -> None:
        """Sign in and synchronise; the Browser is signed in to the sites.

        Raises:
            FAULTS: the servers do not answer, or refuse the account; the phone is then not signed in.
        """
        with self._lock:
            with self._phone.event():
                save_account(self._phone.store, Account(email, password))
            try:
                self._sync()
                with self._phone.lock:
                    epoch = self._phone.store.version[0]
                sign_in_to_sites(self._phone, Account(email, password), epoch)
            except FAULTS:
                with self._phone.event():
                    save_account(self._phone.store, Account("", ""))
                raise

    def sync(self) -> None:
        """Synchronise now, if the phone is signed in.

        Raises:
            FAULTS: the servers do not answer.
        """
        with self._lock:
            self._sync()

    def _sync(self) -> None:
        with self._phone.lock:
            account, epoch = load_account(self._phone.store), self._phone.store.version[0]
        if account is None:
            return
        if self._of != (epoch, account) or self._parts is None:
            self._parts = (
                MailSync(self._phone, account, epoch),
                CollectionSync(self._phone, account, epoch),
                FileSync(self._phone, account, epoch),
            )
            self._of = (epoch, account)
        for part in self._parts:
            part.run()

    def _run(self) -> None:
        while not self._stopped.wait(EVERY_S):
            try:
                self.sync()
            except FAULTS as exc:
                self._phone.log.write("W", "Sync", f"{type(exc).__name__}: {exc}")
