from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioning.probe.serving.framing import FramingError, LineSplitter, decode, encode

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
MESSAGES = st.dictionaries(st.text(), JSON, max_size=5)


@pytest.mark.slow
@given(st.lists(MESSAGES, max_size=6), st.integers(1, 50))
def test_messages_survive_any_split_of_the_stream(
    messages: list[dict[str, Any]], step: int
) -> None:
    stream = b"".join(encode(message) for message in messages)
    splitter = LineSplitter()
    lines = [
        line
        for start in range(0, len(stream), step)
        for line in splitter.feed(stream[start : start + step])
    ]
    assert [decode(line.data) for line in lines] == messages


@pytest.mark.slow
@given(MESSAGES)
def test_line_is_ascii_and_has_one_newline(message: dict[str, Any]) -> None:
    line = encode(message)
    assert line.isascii()
    assert line.index(b"\n") == len(line) - 1


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(1, 7))
def test_buffer_never_exceeds_the_limit(pieces: list[bytes], step: int) -> None:
    splitter = LineSplitter(max_bytes=16)
    stream = b"\n".join(pieces) + b"\n"
    lines = [
        line
        for start in range(0, len(stream), step)
        for line in splitter.feed(stream[start : start + step])
    ]
    wanted = [piece for piece in stream.split(b"\n") if piece]
    assert [line.is_oversize for line in lines] == [len(piece) >= 16 for piece in wanted]
    assert [line.data for line in lines if not line.is_oversize] == [
        piece for piece in wanted if len(piece) < 16
    ]


def test_oversize_line_keeps_its_first_bytes() -> None:
    line = LineSplitter(max_bytes=100).feed(b'{"id":7,' + b"x" * 1000 + b"\n")[0]
    assert line.is_oversize
    assert line.data.startswith(b'{"id":7,')
    assert len(line.data) <= 64


def test_reader_resynchronizes_at_the_next_newline() -> None:
    splitter = LineSplitter()
    splitter.feed(b'{"half": "a li')
    lines = splitter.feed(b'\n{"whole": 1}\n')
    assert json.loads(lines[1].data) == {"whole": 1}


@pytest.mark.parametrize("message", [{"x": float("nan")}, {"x": b"bytes"}, {"x": "y" * 100}])
def test_unsendable_message_is_rejected(message: dict[str, Any]) -> None:
    with pytest.raises(FramingError):
        encode(message, max_bytes=50)
