"""Tokens of the API: shown once, kept as digests; each has a role."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import select

from appliance.base.errors import UnknownNameError, UsageError
from appliance.base.files import digest_bytes, write_atomic
from controller.service.state.tables import TokenRow

if TYPE_CHECKING:
    from pathlib import Path

    from appliance.base.clock import Clock
    from controller.service.state.database import Database

OWN = "appliance"
"""The token that commands of this host use; made when the service starts."""

_BYTES = 32
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


class Role(StrEnum):
    """What the holder of a token may do."""

    READ = "read"
    """Look at everything."""
    OPERATE = "operate"
    """Also queue, cancel and schedule runs."""

    @property
    def may_operate(self) -> bool:
        """Whether it may change something."""
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
        database: where their digests are.
        clock: stamps new ones.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, name: str, role: Role) -> str:
        """Make a token and return it; nobody can read it again.

        Raises:
            UsageError: there is one of this name, or the name is no name.
        """
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is no name of a token.",
                resolution="Use lower-case letters, digits, dots, hyphens and underscores.",
            )
        token = secrets.token_urlsafe(_BYTES)
        with self._database.write() as session:
            if session.get(TokenRow, name) is not None:
                raise UsageError(
                    f"There is a token called {name!r}.", resolution="Remove it first."
                )
            session.add(_row(name, token, role, self._clock))
        return token

    def remove(self, name: str) -> None:
        """Make a token worthless.

        Raises:
            UnknownNameError: there is none.
        """
        with self._database.write() as session:
            row = session.get(TokenRow, name)
            if row is None:
                raise UnknownNameError.of("token", name, session.scalars(select(TokenRow.name)))
            session.delete(row)

    def entries(self) -> list[TokenEntry]:
        """Return all tokens by name, without their secrets."""
        with self._database.read() as session:
            rows = session.scalars(select(TokenRow).order_by(TokenRow.name))
            return [TokenEntry(row.name, Role(row.role), row.created_s) for row in rows]

    def role_of(self, token: str) -> Role | None:
        """Return the role of a token; None for what is no token.

        Digests are compared, so that the time it takes tells nothing about tokens.
        """
        digest = digest_bytes(token.encode(errors="surrogatepass"))
        with self._database.read() as session:
            role = session.scalar(select(TokenRow.role).where(TokenRow.digest == digest))
        return None if role is None else Role(role)

    def ensure_own(self, path: Path) -> str:
        """Return the token of this host's commands, from a file that its user alone can read.

        It is made anew where the file is gone or holds another one.
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
