"""Decompress Mozilla's mozLz4 files: a header, the size, one LZ4 block.

Source: the LZ4 block format description (lz4_Block_format.md of the LZ4 project); Firefox's
``toolkit/components/lz4`` for the header ``mozLz40`` (followed by a NUL) and the size as 32 bits,
little-endian.
"""

from __future__ import annotations

_HEAD = b"mozLz40\0"
_LONG = 15
_LEAST_MATCH = 4
_MAX_BYTES = 1 << 25


def unpack(data: bytes) -> bytes:
    """Return the content of a mozLz4 file.

    Raises:
        ValueError: it is not a mozLz4 file, is corrupt, or contains more than 32 MiB.
    """
    size = int.from_bytes(data[8:12], "little")
    if not data.startswith(_HEAD) or size > _MAX_BYTES:
        raise ValueError("this is not a mozLz4 file, or it is too large")
    out = bytearray()
    try:
        _unpack_block(memoryview(data)[12:], out, size)
    except IndexError as exc:
        raise ValueError("the LZ4 block is truncated") from exc
    if len(out) != size:
        raise ValueError(f"the LZ4 block contains {len(out)} bytes instead of {size}")
    return bytes(out)


def _unpack_block(block: memoryview, out: bytearray, size: int) -> None:
    at = 0
    while True:
        token = block[at]
        count, at = _length(block, at + 1, token >> 4)
        out += block[at : at + count]
        at += count
        if at == len(block):
            return
        back = block[at] | block[at + 1] << 8
        count, at = _length(block, at + 2, token & _LONG)
        count += _LEAST_MATCH
        if not 0 < back <= len(out) or len(out) + count > size:
            raise ValueError("the LZ4 block has an invalid reference")
        start = len(out) - back
        piece = out[start : start + count]
        out += (piece * (count // len(piece) + 1))[:count]


def _length(block: memoryview, at: int, count: int) -> tuple[int, int]:
    if count == _LONG:
        more = 255
        while more == 255:  # noqa: PLR2004  (a full byte says that another follows)
            more = block[at]
            count += more
            at += 1
    return count, at
