"""The account, and what the phone knows to be the same there."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from images.phone.device.phone import Phone
    from images.phone.device.store.database import Store

_EMAIL, _PASSWORD = ("device", "account_email"), ("device", "account_password")
HERE = "127.0.0.1"
"""Where the phone reaches the servers of its lease."""
TIMEOUT_S = 60.0
"""How long a server may be silent: on a busy host, many seconds."""


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


class RewoundError(OSError):
    """The phone was rewound while it synchronised: what was read belongs to another state."""


@contextmanager
def writing(phone: Phone, epoch: int) -> Iterator[Store]:
    """Change the phone's state, if it still is the one that is synchronised.

    Args:
        phone: the phone.
        epoch: first part of the state's version.

    Raises:
        RewoundError: the phone was rewound.
    """
    with phone.event():
        if phone.store.version[0] != epoch:
            raise RewoundError("the phone was rewound")
        yield phone.store


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
