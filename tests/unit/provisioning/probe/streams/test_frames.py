"""Frames, in pieces of any size."""

from __future__ import annotations

import pytest

from provisioning.probe.streams import frames
from provisioning.probe.streams.frames import (
    DATA,
    MAX_PAYLOAD_BYTES,
    OPEN,
    Frame,
    FrameError,
    FrameSplitter,
    encode,
    pack_count,
    unpack_count,
)

NONCE = b"0123456789abcdef"
FRAMES = [Frame(OPEN, 1, b"mail:80"), Frame(DATA, 1, b"x" * 1000), Frame(DATA, 2**32 - 1)]


@pytest.mark.parametrize("size", [1, 7, 1500])
def test_frames_are_the_same_in_pieces_of_any_size(size: int) -> None:
    data = b"".join(map(encode, FRAMES))
    splitter = FrameSplitter()
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert [frame for piece in pieces for frame in splitter.feed(piece)] == FRAMES


@pytest.mark.parametrize("size", [1, 7, 1500])
def test_everything_before_the_nonce_is_dropped(size: int) -> None:
    data = b"\xff" * 100 + NONCE[:9] + NONCE + b"".join(map(encode, FRAMES))
    splitter = FrameSplitter(NONCE)
    assert not splitter.has_begun
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert [frame for piece in pieces for frame in splitter.feed(piece)] == FRAMES
    assert splitter.has_begun


def test_endless_noise_before_the_nonce_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_NOISE_BYTES", 1000)
    splitter = FrameSplitter(NONCE)
    assert list(splitter.feed(bytes(900))) == []
    with pytest.raises(FrameError, match="does not begin"):
        list(splitter.feed(bytes(900)))


@pytest.mark.parametrize("data", [b"\0" * 7, b"\x07" * 7, b"\x03\0\0\0\x01\xff\xff"])
def test_malformed_frame_is_an_error(data: bytes) -> None:
    with pytest.raises(FrameError, match="malformed"):
        list(FrameSplitter().feed(data))


def test_frame_that_is_too_long_is_not_sent() -> None:
    with pytest.raises(FrameError, match="too long"):
        encode(Frame(DATA, 1, bytes(MAX_PAYLOAD_BYTES + 1)))


def test_credit_is_read_back() -> None:
    assert unpack_count(pack_count(4096)) == 4096


@pytest.mark.parametrize("payload", [b"", b"\0\0\0\0", b"\xff\xff\xff\xff", b"\0\0\0\0\x01"])
def test_malformed_credit_is_an_error(payload: bytes) -> None:
    with pytest.raises(FrameError, match="credit"):
        unpack_count(payload)
