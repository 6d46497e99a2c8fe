"""Tokens of the API: shown once, stored as digests, each with a role."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import select

from controller.service.state.tables import TokenRow
from foundation.errors import UnknownNameError, UsageError
from foundation.files import digest_bytes, write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from controller.service.state.database import Database
    from foundation.clock import Clock

OWN = "appliance"
"""Name of the token that commands on this host use; created when the service starts."""

_BYTES = 32
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


class Role(StrEnum):
    """What a token permits."""

    READ = "read"
    """Read everything."""
    OPERATE = "operate"
    """Also queue, cancel and schedule runs."""

    @property
    def may_operate(self) -> bool:
        """Whether the role permits changes."""
        return self is Role.OPERATE


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """A token without its secret; see `TokenRow`."""

    name: str
    role: Role
    created_s: float


class Tokens:
    """The tokens of one appliance.

    Args:
        database: stores the digests.
        clock: timestamps new tokens.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, name: str, role: Role) -> str:
        """Create a token and return it; it cannot be read again.

        Raises:
            UsageError: the name is taken or invalid.
        """
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is not a valid token name.",
                resolution="Use lower-case letters, digits, dots, hyphens and underscores.",
            )
        token = secrets.token_urlsafe(_BYTES)
        with self._database.write() as session:
            if session.get(TokenRow, name) is not None:
                raise UsageError(
                    f"A token named {name!r} already exists.", resolution="Remove it first."
                )
            session.add(_row(name, token, role, self._clock))
        return token

    def remove(self, name: str) -> None:
        """Revoke a token.

        Raises:
            UnknownNameError: there is no such token.
        """
        with self._database.write() as session:
            row = session.get(TokenRow, name)
            if row is None:
                raise UnknownNameError.of("token", name, session.scalars(select(TokenRow.name)))
            session.delete(row)

    def entries(self) -> list[TokenEntry]:
        """Return all tokens without their secrets, sorted by name."""
        with self._database.read() as session:
            rows = session.scalars(select(TokenRow).order_by(TokenRow.name))
            return [TokenEntry(row.name, Role(row.role), row.created_s) for row in rows]

    def role_of(self, token: str) -> Role | None:
        """Return the role of a token; None if it is not valid.

        Digests are compared, so that the response time reveals nothing about tokens.
        """
        digest = digest_bytes(token.encode(errors="surrogatepass"))
        with self._database.read() as session:
            role = session.scalar(select(TokenRow.role).where(TokenRow.digest == digest))
        return None if role is None else Role(role)

    def ensure_own(self, path: Path) -> str:
        """Return the token of this host's commands, from a file that only its user can read.

        Creates a new token if the file is missing or its token is not valid.
        """
        token = path.read_text(encoding="ascii").strip() if path.is_file() else ""
        if token and self.role_of(token) is Role.OPERATE:
            return token
        token = secrets.token_urlsafe(_BYTES)
        with self._database.write() as session:
            session.merge(_row(OWN, token, Role.OPERATE, self._clock))
        write_atomic(path, f"{token}\n", mode=0o600)
        return token


def _row(name: str, token: str, role: Role, clock: Clock) -> TokenRow:
    return TokenRow(
        name=name, digest=digest_bytes(token.encode()), role=role, created_s=clock.now_s()
    )
