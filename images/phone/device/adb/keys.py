"""Authenticate hosts: verify RSA signatures with this phone's known public keys.

Source: AOSP ``adb/client/auth.cpp`` and ``libcrypto_utils/android_pubkey.c``: a key file's line
is base64 of {words, n0inv, modulus, R², exponent}, little endian; the token of 20 bytes is signed
as if it were a SHA-1 digest (PKCS #1 v1.5).
"""

from __future__ import annotations

import base64
import binascii
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

TOKEN_BYTES = 20
_MODULUS_BYTES = 256
_KEY = struct.Struct(f"<II{_MODULUS_BYTES}s{_MODULUS_BYTES}sI")
_SHA1_PREFIX = bytes.fromhex("3021300906052b0e03021a05000414")


class PublicKey(NamedTuple):
    """A 2048-bit RSA key."""

    modulus: int
    exponent: int


def parse_key(line: str) -> PublicKey | None:
    """Parse a line of an ``adbkey.pub`` or ``adb_keys`` file; return None if it is not a key."""
    fields = line.split()
    if not fields:
        return None
    try:
        raw = base64.b64decode(fields[0], validate=True)
        count, _, modulus, _, exponent = _KEY.unpack(raw)
    except (binascii.Error, struct.error, ValueError):
        return None
    if count * 4 != _MODULUS_BYTES:
        return None
    return PublicKey(int.from_bytes(modulus, "little"), exponent)


def parse_keys(lines: Iterable[str]) -> tuple[PublicKey, ...]:
    """Parse the keys in a file's lines, skipping invalid lines."""
    return tuple(key for line in lines if (key := parse_key(line)) is not None)


def is_signed(token: bytes, signature: bytes, keys: Iterable[PublicKey]) -> bool:
    """Return whether a known key signed the token.

    Args:
        token: the 20 random bytes that were sent.
        signature: the received signature.
        keys: the known keys.
    """
    if len(signature) != _MODULUS_BYTES:
        return False
    number = int.from_bytes(signature, "big")
    digest = _SHA1_PREFIX + token
    padding = b"\xff" * (_MODULUS_BYTES - len(digest) - 3)
    wanted = int.from_bytes(b"\x00\x01" + padding + b"\x00" + digest, "big")
    return any(
        number < key.modulus and pow(number, key.exponent, key.modulus) == wanted for key in keys
    )
