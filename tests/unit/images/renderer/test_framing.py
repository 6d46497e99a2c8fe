"""Tests of messages between renderer and host."""

from __future__ import annotations

import io

import pytest

from images.renderer.program import framing
from images.renderer.program.framing import MessageError, encode, read_message


def test_a_message_comes_back() -> None:
    stream = io.BytesIO(encode({"a": "ä\n"}, [b"", b"\n\0{", b"x" * 3]) + b"rest")
    assert read_message(stream.read) == ({"a": "ä\n"}, [b"", b"\n\0{", b"x" * 3])
    assert stream.read() == b"rest"


@pytest.mark.parametrize(
    "data",
    [
        b"no json\n",
        b"[1]\n",
        b"{}\n",
        b'{"sizes": [-1]}\n',
        b'{"sizes": [true]}\n',
        b'{"sizes": ["1"]}\n',
        b'{"sizes": [100000000000]}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(MessageError):
        read_message(io.BytesIO(data).read)


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "MAX_HEADER_BYTES", 10)
    with pytest.raises(MessageError, match="too long"):
        read_message(io.BytesIO(b"x" * 100).read)


@pytest.mark.parametrize("data", [b"", b'{"sizes"', b'{"sizes": [4]}\nabc'])
def test_a_cut_message_is_the_end(data: bytes) -> None:
    with pytest.raises(EOFError):
        read_message(io.BytesIO(data).read)
