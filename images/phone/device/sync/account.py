"""The account, and what the phone knows to be the same there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import Protocol

    from images.phone.device.log import LogBuffer
    from images.phone.device.store.database import Store

    class SyncedPhone(Protocol):
        """A phone whose state is synchronised."""

        @property
        def lock(self) -> AbstractContextManager[bool]:
            """Held while the state is read."""
            ...

        @property
        def log(self) -> LogBuffer:
            """The phone's log."""
            ...

        @property
        def store(self) -> Store:
            """The state."""
            ...

        def now(self) -> datetime:
            """Return the time in the phone's own zone."""
            ...

        def event(self) -> AbstractContextManager[None]:
            """Change the state atomically and save it at the end."""
            ...


_EMAIL, _PASSWORD = ("device", "account_email"), ("device", "account_password")
HERE = "127.0.0.1"
"""Where the phone reaches the servers of its lease."""


@dataclass(frozen=True)
class Account:
    """Address and password."""

    email: str
    password: str


@dataclass(frozen=True)
class Known:
    """A row of the phone and what it is on the server.

    Attributes:
        local: id of the row.
        remote: its name on the server.
        digest: what both had when they were last the same.
    """

    local: int
    remote: str
    digest: str


def load_account(store: Store) -> Account | None:
    """Return the account; None if the phone is not signed in."""
    email = store.setting(*_EMAIL)
    return Account(email, store.setting(*_PASSWORD)) if email else None


def save_account(store: Store, account: Account) -> None:
    """Sign in; what was known of another account is forgotten."""
    store.put_setting(*_EMAIL, account.email)
    store.put_setting(*_PASSWORD, account.password)
    store.change("DELETE FROM synced")


def list_known(store: Store, kind: str) -> list[Known]:
    """Return what is known of one kind: ``mail``, ``event`` or ``contact``."""
    rows = store.rows("SELECT local, remote, digest FROM synced WHERE kind=?", (kind,))
    return [Known(row["local"], row["remote"], row["digest"]) for row in rows]


def put_known(store: Store, kind: str, known: Known) -> None:
    """Remember that a row is the same on the server."""
    store.change(
        "INSERT OR REPLACE INTO synced VALUES (?, ?, ?, ?)",
        (kind, known.remote, known.local, known.digest),
    )


def drop_known(store: Store, kind: str, remote: str) -> None:
    """Forget a row."""
    store.change("DELETE FROM synced WHERE kind=? AND remote=?", (kind, remote))
