"""Only permitted messages of a viewer reach the VNC server, in chunks of any size."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import UsageError
from provisioning.desktop.qemu.viewer_filter import VERSION, ViewerFilter

GREETING = VERSION + b"\x01" + b"\x01"
FORMAT = struct.pack(">Bxxx16s", 0, bytes(range(16)))
UPDATE = struct.pack(">BBHHHH", 3, 1, 0, 0, 640, 480)
KEY = struct.pack(">BBxxI", 4, 1, 0xFF0D)
POINTER = struct.pack(">BBHH", 5, 0x81, 10, 20)
QEMU_KEY = struct.pack(">BBHII", 255, 0, 1, 0xFF0D, 28)
CLIPBOARD = struct.pack(">BxxxI", 6, 5) + b"hello"
LONG_CLIPBOARD = struct.pack(">Bxxxi", 6, -7) + b"\x00\x00\x00\x01zip"
FENCE = struct.pack(">BxxxIB", 248, 1, 3) + b"abc"
SIZE = struct.pack(">BxHHBx", 251, 800, 600, 1) + bytes(16)
POWER_OFF = struct.pack(">BxBB", 250, 1, 2)
CONTINUOUS = struct.pack(">BBHHHH", 150, 1, 0, 0, 640, 480)
AUDIO = struct.pack(">BBH", 255, 1, 0)
AUDIO_FORMAT = struct.pack(">BBHBBI", 255, 1, 2, 3, 2, 44100)
INPUT = (KEY, POINTER, QEMU_KEY)
NEVER = (
    *(CLIPBOARD, LONG_CLIPBOARD, FENCE, SIZE, POWER_OFF),
    *(CONTINUOUS, AUDIO, AUDIO_FORMAT),
)


def encodings(*numbers: int) -> bytes:
    return struct.pack(f">BxH{len(numbers)}i", 2, len(numbers), *numbers)


def passed(*messages: bytes, may_act: bool, size: int = 1 << 20) -> bytes:
    """Return what the server gets after the handshake if messages arrive in chunks."""
    sent, out = GREETING + b"".join(messages), b""
    viewer = ViewerFilter(lambda: may_act)
    for at in range(0, len(sent), size):
        out += viewer.feed(sent[at : at + size])
    assert out.startswith(GREETING)
    return out.removeprefix(GREETING)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 20])
def test_watching_viewer_sends_no_input(size: int) -> None:
    sent = (FORMAT, *INPUT, UPDATE, *NEVER, UPDATE)
    assert passed(*sent, may_act=False, size=size) == FORMAT + UPDATE + UPDATE


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 20])
def test_acting_viewer_sends_keys_and_pointer_only(size: int) -> None:
    sent = (FORMAT, *INPUT, *NEVER, UPDATE)
    assert passed(*sent, may_act=True, size=size) == FORMAT + b"".join(INPUT) + UPDATE


@given(st.lists(st.sampled_from((UPDATE, FORMAT, *INPUT, *NEVER))), st.integers(1, 40))
def test_any_message_sequence_in_any_chunks_is_filtered(messages: list[bytes], size: int) -> None:
    looked = [message for message in messages if message in {UPDATE, FORMAT}]
    assert passed(*messages, may_act=False, size=size) == b"".join(looked)
    acted = [message for message in messages if message not in NEVER]
    assert passed(*messages, may_act=True, size=size) == b"".join(acted)


def test_right_to_act_is_checked_at_each_key() -> None:
    answers = iter([True, False, True])
    viewer = ViewerFilter(lambda: next(answers))
    viewer.feed(GREETING)
    assert [viewer.feed(KEY) for _ in range(3)] == [KEY, b"", KEY]
    assert viewer.dropped == 1


def test_unsupported_encodings_are_not_requested() -> None:
    tight_png, jpeg, cursor, quality, fence, clipboard = -260, 21, -239, -26, -312, 0xC0A1E5CE
    wished = (7, tight_png, jpeg, 16, cursor, quality, -254, fence, clipboard - (1 << 32), -258, 0)
    assert passed(encodings(*wished), may_act=False) == encodings(7, 16, -254, -258, 0)
    assert passed(encodings(cursor), encodings(), may_act=False) == encodings() * 2


def test_other_viewers_are_never_disconnected() -> None:
    assert ViewerFilter(bool).feed(VERSION + b"\x01" + b"\x00") == GREETING


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"RFB 003.003\n", "handshake sent"),
        (b"GET / HTTP/1.1\r\n", "handshake sent"),
        (VERSION + b"\x02", "handshake sent"),
        (GREETING + b"\x07", "unknown type 7"),
        (GREETING + b"\xff\x07\x00\x00", "QEMU message of unknown type 7"),
        (GREETING + struct.pack(">Bxxxi", 6, 1 << 30), "1073741832 bytes"),
        (GREETING + struct.pack(">Bxxxi", 6, -(1 << 31)), "bytes"),
    ],
)
def test_invalid_viewer_messages_are_rejected(sent: bytes, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        ViewerFilter(lambda: True).feed(sent)
