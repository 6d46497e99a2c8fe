"""Read a user's settings from the dconf database, key by key.

Source: dconf 0.40 uses a GVDB file; glib 2.74, gvdb-format.h: a header, then a hash table of
    24-byte items, each with the part of its name after its parent's, and the position of its value.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Dict, List, NamedTuple, Tuple

MAX_CHARS = 500_000
"""Maximum size of keys and digests together; beyond it, the rest is one row."""

UNREADABLE = "(unreadable)"
_SIGNATURE = b"GVariant"
_HEADER = struct.Struct("<8sIIII")
_TABLE = struct.Struct("<II")
_ITEM = struct.Struct("<IIIHcxII")
_BLOOM_MASK = (1 << 27) - 1
_NO_PARENT = 0xFFFFFFFF
_MAX_DEPTH = 100
_DIGEST_CHARS = 16
_VALUE = b"v"


class _Item(NamedTuple):
    parent: int
    name: bytes
    kind: bytes
    value: Tuple[int, int]


def read_settings(path: str) -> Dict[str, str]:
    """Return a digest of the value of each key; empty if there is no database.

    A database that is damaged or not dconf's is one row with a digest of the whole file.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return {}
    try:
        return _values(data)
    except (ValueError, struct.error, UnicodeDecodeError):
        return {UNREADABLE: _digest(data)}


def _values(data: bytes) -> Dict[str, str]:
    items = _items(data)
    rows: Dict[str, str] = {}
    chars = 0
    for number, item in enumerate(items):
        if item.kind != _VALUE:
            continue
        name = _name(items, number)
        rows[name] = _digest(_part(data, *item.value))
        chars += len(name) + _DIGEST_CHARS
        if chars > MAX_CHARS:
            raise ValueError("more settings than are compared")
    return rows


def _items(data: bytes) -> List[_Item]:
    signature, _version, _options, start, end = _HEADER.unpack_from(data)
    if signature != _SIGNATURE:
        raise ValueError("not a dconf database")
    bloom_words, buckets = _TABLE.unpack_from(data, start)
    first = start + _TABLE.size + 4 * ((bloom_words & _BLOOM_MASK) + buckets)
    if first > end or (end - first) % _ITEM.size:
        raise ValueError("invalid table size")
    items = []
    for _hash, parent, name_at, name_bytes, kind, value_at, value_end in _ITEM.iter_unpack(
        _part(data, first, end)
    ):
        name = _part(data, name_at, name_at + name_bytes)
        items.append(_Item(parent, name, kind, (value_at, value_end)))
    return items


def _name(items: List[_Item], number: int) -> str:
    parts: List[bytes] = []
    while number != _NO_PARENT:
        if number >= len(items) or len(parts) > _MAX_DEPTH:
            raise ValueError("an item has no root")
        parts.append(items[number].name)
        number = items[number].parent
    return b"".join(reversed(parts)).decode()


def _part(data: bytes, start: int, end: int) -> bytes:
    if not 0 <= start <= end <= len(data):
        raise ValueError("a pointer is outside the file")
    return data[start:end]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]
