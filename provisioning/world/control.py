"""Requests to the program that controls a world's servers."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.errors import LinkClosedError, LinkProtocolError, MachineError

if TYPE_CHECKING:
    from typing import TypeVar

    from provisioning.protocols import Json

    M = TypeVar("M", bound=BaseModel)

PORT = 8090
"""Where the program listens in the container; see images/world/program/control.py."""
_TIMEOUT_S = 120.0
_MAX_REPLY_BYTES = 1 << 28
_OK = 200


class Filled(BaseModel):
    """What a world answers after it was filled.

    Attributes:
        state: rows of the new state, before any server saw it.
        stop_s: how long the servers took to stop.
        fill_s: how long the state took to be replaced and read again.
        start_s: how long the servers took to start.
    """

    model_config = ConfigDict(frozen=True)

    state: dict[str, str]
    stop_s: float
    fill_s: float
    start_s: float


class Digest(BaseModel):
    """The state of a world as rows by path."""

    model_config = ConfigDict(frozen=True)

    state: dict[str, str]


class Outside(BaseModel):
    """The mails that left a world."""

    model_config = ConfigDict(frozen=True, ser_json_bytes="base64", val_json_bytes="base64")

    mails: tuple[bytes, ...]


class Account(BaseModel):
    """Address and password of the person."""

    model_config = ConfigDict(frozen=True)

    email: str
    password: str


class Health(BaseModel):
    """How a world is.

    Attributes:
        is_filled: whether it has a state.
        ended: exit codes of servers that have ended, by name; negative ones are signals.
        oom_kills: how many processes were killed because the world used all of its memory.
        free_bytes: how much more its state may hold.
    """

    model_config = ConfigDict(frozen=True)

    is_filled: bool
    ended: dict[str, int]
    oom_kills: int
    free_bytes: int


class WorldControl:
    """The control of one world.

    Args:
        address: the container's address.
        token: the token that it was started with.
        name: name of the world, for errors.
    """

    def __init__(self, address: str, token: str, name: str) -> None:
        self._address = address
        self._token = token
        self._name = name

    def fill(self, archive: bytes) -> Filled:
        """Replace the world's state by that of a tar, and restart its servers.

        Raises:
            MachineError: the world could not be filled; it must not be used.
            LinkError: it does not answer.
        """
        return self._read(Filled, self._ask("PUT", "/state", archive))

    def digest(self) -> dict[str, str]:
        """Return the rows of its state, once no mail waits for its delivery.

        Raises:
            MachineError: the state cannot be read.
            LinkError: it does not answer.
        """
        return self._read(Digest, self._ask("GET", "/digest")).state

    def read(self) -> bytes:
        """Return its state as a tar, once no mail waits for its delivery.

        Raises:
            MachineError: the state cannot be read.
            LinkError: it does not answer.
        """
        return self._ask("GET", "/state")

    def outside(self) -> list[bytes]:
        """Return the mails that left the world, the oldest first, once none waits for its delivery.

        Raises:
            MachineError: they cannot be read.
            LinkError: it does not answer.
        """
        return list(self._read(Outside, self._ask("GET", "/outside")).mails)

    def account(self) -> Account:
        """Return the person's account, whose password a machine may have changed.

        Raises:
            MachineError: it cannot be read.
            LinkError: the world does not answer.
        """
        return self._read(Account, self.ask_site("GET", "/account"))

    def ask_site(self, method: str, path: str, body: Json | None = None) -> bytes:
        """Ask a site as the appliance, and return its answer, mostly JSON.

        Args:
            method: such as ``GET``.
            path: name of the site and of what is asked, such as ``/shop/orders``.
            body: sent as JSON.

        Raises:
            MachineError: the site refused.
            LinkError: the world does not answer.
        """
        data = None if body is None else json.dumps(body).encode()
        return self._ask(method, f"/sites{path}", data)

    def health(self, timeout_s: float = _TIMEOUT_S) -> Health:
        """Return how it is.

        Raises:
            LinkError: it does not answer.
        """
        return self._read(Health, self._ask("GET", "/health", timeout_s=timeout_s))

    def _ask(
        self, method: str, path: str, body: bytes | None = None, timeout_s: float = _TIMEOUT_S
    ) -> bytes:
        connection = http.client.HTTPConnection(self._address, PORT, timeout=timeout_s)
        try:
            headers = {"Authorization": f"Bearer {self._token}"}
            connection.request(method, path, body=body, headers=headers)
            reply = connection.getresponse()
            data = reply.read(_MAX_REPLY_BYTES)
        except (OSError, http.client.HTTPException) as exc:
            raise LinkClosedError(f"The world {self._name} does not answer.", str(exc)) from exc
        finally:
            connection.close()
        if reply.status != _OK:
            details = data[-2000:].decode(errors="replace")
            raise MachineError(f"The world {self._name} refused {method} {path}.", details)
        return data

    def _read(self, model: type[M], data: bytes) -> M:
        try:
            return model.model_validate_json(data)
        except ValidationError as exc:
            raise LinkProtocolError(
                f"The world {self._name} sent a malformed reply.", str(exc)[:500]
            ) from exc
