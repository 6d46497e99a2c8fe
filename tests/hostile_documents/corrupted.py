"""Documents that are damaged at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.evaluator_cases.file_builders import unzipped, zipped
from tests.hostile_documents.bases import PARTS, HostileDocument, bases

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator


def corrupted(draw: random.Random, count: int) -> Iterator[HostileDocument]:
    """Iterate over damaged documents, of each format in turn and in each way in turn."""
    formats = list(bases().items())
    for number in range(count):
        suffix, data = formats[number % len(formats)]
        ways = _ARCHIVE_WAYS if suffix in PARTS else _WAYS
        name, way = ways[number // len(formats) % len(ways)]
        yield HostileDocument(f"{suffix}: {name} {number}", suffix, way(draw, data))


def _flip(draw: random.Random, data: bytes) -> bytes:
    """Flip a few bits after the first bytes, by which the format is recognised."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 5, 40))):
        changed[draw.randrange(min(8, len(data) - 1), len(data))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _cut(draw: random.Random, data: bytes) -> bytes:
    return data[: draw.randrange(len(data) // 3, len(data))]


def _swap(draw: random.Random, data: bytes) -> bytes:
    """Move a piece to another place."""
    start, end = sorted(draw.sample(range(8, len(data)), 2))
    piece, rest = data[start:end], data[:start] + data[end:]
    place = draw.randrange(8, len(rest) + 1)
    return rest[:place] + piece + rest[place:]


def _numbers(draw: random.Random, data: bytes) -> bytes:
    """Replace digits by others."""
    return bytes(
        draw.choice(b"0123456789-") if 48 <= byte <= 57 and draw.random() < 0.2 else byte
        for byte in data
    )


def _in_parts(draw: random.Random, data: bytes) -> bytes:
    """Damage the unpacked members of an archive, whose checksums are then right."""
    parts = unzipped(data)
    for name in draw.sample(sorted(parts), min(3, len(parts))):
        if name != "mimetype" and len(parts[name]) > 16:
            parts[name] = draw.choice((_flip, _cut, _swap, _numbers))(draw, parts[name])
    return zipped(parts)


def _tags(draw: random.Random, data: bytes) -> bytes:
    """Repeat elements of the content in places where they do not belong."""
    parts = unzipped(data)
    for name in parts:
        if name in PARTS.values():
            pieces = parts[name].split(b"<")
            for _ in range(20):
                pieces.insert(draw.randrange(2, len(pieces)), draw.choice(pieces[2:]))
            parts[name] = b"<".join(pieces)
    return zipped(parts)


def _without(draw: random.Random, data: bytes) -> bytes:
    parts = unzipped(data)
    del parts[draw.choice([name for name in parts if name != "mimetype"])]
    return zipped(parts)


def _exchanged(draw: random.Random, data: bytes) -> bytes:
    """Give two members each other's content."""
    parts = unzipped(data)
    one, other = draw.sample([name for name in parts if name != "mimetype"], 2)
    parts[one], parts[other] = parts[other], parts[one]
    return zipped(parts)


_WAYS = (("bits", _flip), ("cut", _cut), ("pieces", _swap), ("numbers", _numbers))
_ARCHIVE_WAYS = (
    ("members", _in_parts),
    ("bits", _flip),
    ("elements", _tags),
    ("a member gone", _without),
    ("members exchanged", _exchanged),
    ("cut", _cut),
    ("members", _in_parts),
)
