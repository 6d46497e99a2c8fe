"""Errors that attribute the failure of a desktop evaluator.

They declare a code, which the probe sends to the host (`provisioning/probe/reasons.py`). Built-in
kinds of `OSError` count as obstructions; any other exception is a fault of the evaluator.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from provisioning.probe.guest import Guest


class ObstructedError(Exception):
    """Something on the desktop blocks the evaluator: its node is unmet."""

    reason_code = "obstructed"


class ServerError(Exception):
    """A server outside the desktop does not respond: the node is inconclusive."""

    reason_code = "server"


class WrongArgumentError(Exception):
    """An argument in the task is wrong whatever the machine's state: the task has an error."""

    reason_code = "argument"


@contextlib.contextmanager
def asking(host: str) -> Iterator[None]:
    """Attribute failures of requests to a server.

    On the desktop itself the agent can start, stop and replace servers; elsewhere it cannot.

    Args:
        host: name or address of the server.

    Raises:
        ObstructedError: a server on the desktop fails, or its reply is invalid.
        ServerError: another server does so.
    """
    try:
        yield
    except Exception as exc:
        kind = ObstructedError if is_own(host) else ServerError
        raise kind(f"{host} did not respond properly: {type(exc).__name__}: {exc}") from exc


@contextlib.contextmanager
def as_agent(guest: Guest) -> Iterator[None]:
    """Open sockets as the agent's user meanwhile, because a server there can see whose they are."""
    uid = Path(guest.home).stat().st_uid
    if os.geteuid() != 0 or uid == 0:
        yield
        return
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)


def is_own(host: str) -> bool:
    """Return whether a name or address refers only to this machine; False if unknown."""
    try:
        addresses = {(row[0], row[4]) for row in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    return bool(addresses) and all(_is_own_address(family, place) for family, place in addresses)


def output_of(guest: Guest, argv: Sequence[str], timeout_s: float = 10.0) -> tuple[int, str, str]:
    """Run a program as the user and return its exit code, standard output and standard error.

    Raises:
        ObstructedError: the program was killed, which only the agent's programs can do.
    """
    code, out, err = guest.run_as_user(argv, timeout_s)
    if code < 0:
        raise ObstructedError(f"{argv[0]} was killed by signal {-code}")
    return code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def _is_own_address(family: int, place: tuple[Any, ...]) -> bool:
    """Return whether an address is a loopback address, or one that a socket can be bound to."""
    if ipaddress.ip_address(place[0]).is_loopback:
        return True
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as handle:
        handle.bind(place)
        return True
    return False
