"""Mozilla's compressed files, made by LZ4's own library and by hand."""

from __future__ import annotations

import json

import pytest

from evaluators.desktop.lz4 import unpack
from tests.evaluator_cases.desktop.firefox import GOLDEN, pack

SESSION = {
    "windows": [
        {
            "tabs": [
                {
                    "entries": [
                        {"url": "http://news.test/today"},
                        {"url": "http://news.test/tomorrow"},
                    ],
                    "index": 2,
                }
            ],
            "note": "a" * 300 + "abcdefgh" * 40,
        }
    ]
}


def test_golden_file_is_unpacked() -> None:
    assert json.loads(unpack(GOLDEN)) == SESSION


@pytest.mark.parametrize(
    "content", [b"", b"x", b"a" * 700, b"abcdefgh" * 99 + b"end.", bytes(range(256)) * 9]
)
def test_packed_content_is_unpacked(content: bytes) -> None:
    assert unpack(pack(content)) == content


@pytest.mark.parametrize("length", range(0, len(GOLDEN), 3))
def test_truncated_file_is_rejected(length: int) -> None:
    with pytest.raises(ValueError, match=r"LZ4|mozLz4"):
        unpack(GOLDEN[:length])


@pytest.mark.parametrize("size", [0, 756, 758, 1 << 31])
def test_wrong_size_is_rejected(size: int) -> None:
    with pytest.raises(ValueError, match=r"LZ4|mozLz4"):
        unpack(GOLDEN[:8] + size.to_bytes(4, "little") + GOLDEN[12:])
