from __future__ import annotations

import contextlib
import socket
import struct
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.clock import wait_until
from images.phone.device.streams import wire
from images.phone.device.streams.shell_protocol import PacketReader, encode
from images.phone.device.streams.stream import WINDOW_BYTES, Budget, Stream, StreamClosedError


class Bytes:
    """A socket that returns data in the smallest possible pieces."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def recv_into(self, buffer: memoryview, nbytes: int = 0, /) -> int:
        piece, self._data = self._data[: min(nbytes, 3)], self._data[min(nbytes, 3) :]
        buffer[: len(piece)] = piece
        return len(piece)


@given(st.sampled_from(sorted(wire.COMMANDS)), st.binary(max_size=100), st.booleans())
def test_message_survives_a_round_trip(command: int, payload: bytes, check: bool) -> None:
    message = wire.Message(command, 3, 9, payload)
    data = wire.encode_header(message, with_checksum=check) + payload
    assert wire.receive(Bytes(data), max_bytes=100, check=check) == message


@given(st.binary(max_size=200))
def test_random_bytes_raise_a_protocol_error(data: bytes) -> None:
    with pytest.raises((wire.AdbProtocolError, wire.ConnectionEndedError)):
        wire.receive(Bytes(data), max_bytes=100, check=True)


@given(st.lists(st.tuples(st.integers(0, 5), st.binary(max_size=50))), st.integers(1, 20))
def test_packets_survive_any_split(packets: list[tuple[int, bytes]], step: int) -> None:
    data = b"".join(encode(kind, part) for kind, part in packets)
    reader, received = PacketReader(), []
    for start in range(0, len(data), step):
        received += [
            (packet.kind, packet.data) for packet in reader.feed(data[start : start + step])
        ]
    assert received == packets


def test_stream_has_one_message_in_flight() -> None:
    sent: list[wire.Message] = []
    stream = Stream(1, 7, sent.append, 4, lambda _: None)
    writer = threading.Thread(target=stream.write, args=(b"abcdefgh!",))
    writer.start()
    for count in (1, 2, 3):
        while len(sent) < count:
            threading.Event().wait(0.001)
        assert [message.payload for message in sent] == [b"abcd", b"efgh", b"!"][:count]
        stream.take_okay()
    writer.join(5)
    assert not writer.is_alive()


def test_writer_wakes_up_when_the_stream_ends() -> None:
    stream = Stream(1, 7, lambda _: None, 4, lambda _: None)
    ended = threading.Event()

    def write() -> None:
        with contextlib.suppress(StreamClosedError):
            stream.write(b"abcdefgh")
        ended.set()

    threading.Thread(target=write).start()
    stream.drop()
    assert ended.wait(5)


def test_each_message_is_acknowledged_after_it_was_read() -> None:
    sent: list[wire.Message] = []
    stream = Stream(1, 7, sent.append, 4, lambda _: None)
    for data in (b"one", b"two"):
        assert stream.take_data(data)
    assert not sent
    assert stream.read() == b"onetwo"
    assert sent == [wire.Message(wire.OKAY, 1, 7)] * 2


def test_host_that_never_waits_is_rejected() -> None:
    stream = Stream(1, 7, lambda _: None, 4, lambda _: None)
    for _ in range(4):
        assert stream.take_data(bytes(1 << 20))
    assert not stream.take_data(b"x")


class TestDelayedAcknowledgements:
    def make(self, credit_bytes: int) -> tuple[Stream, list[wire.Message]]:
        sent: list[wire.Message] = []
        stream = Stream(1, 7, sent.append, 4, lambda _: None, credit_bytes=credit_bytes)
        return stream, sent

    def test_writer_stops_when_the_window_is_used_up(self) -> None:
        stream, sent = self.make(6)
        writer = threading.Thread(target=stream.write, args=(b"abcdefghijkl",))
        writer.start()
        # The host acknowledges less than was sent: four of twelve bytes keep waiting.
        assert wait_until(lambda: len(sent) == 2, timeout_s=20)
        stream.take_okay(struct.pack("<i", 1))
        assert not wait_until(lambda: len(sent) > 2, timeout_s=0.05)
        stream.take_okay(struct.pack("<i", 7))
        writer.join(5)
        assert [message.payload for message in sent] == [b"abcd", b"efgh", b"ijkl"]

    def test_read_bytes_are_acknowledged(self) -> None:
        stream, sent = self.make(6)
        stream.accept()
        assert sent == [wire.Message(wire.OKAY, 1, 7, struct.pack("<i", WINDOW_BYTES))]
        for data in (b"one", b"twice"):
            assert stream.take_data(data)
        assert stream.read() == b"onetwice"
        assert sent[1:] == [wire.Message(wire.OKAY, 1, 7, struct.pack("<i", 8))]


def test_all_streams_share_one_budget_and_return_it() -> None:
    budget = Budget(10)
    first, second = (Stream(n, 7, lambda _: None, 4, lambda _: None, budget=budget) for n in (1, 2))
    assert first.take_data(b"sixsix")
    assert not second.take_data(b"sixsix")
    assert first.read() == b"sixsix"
    assert second.take_data(b"sixsix")
    second.close()
    assert budget.left_bytes == 10


def test_data_before_the_close_is_still_read() -> None:
    stream = Stream(1, 7, lambda _: None, 4, lambda _: None)
    stream.take_data(b"last")
    stream.take_close()
    assert stream.read() == b"last"
    assert stream.read() == b""


def test_returning_host_may_omit_the_checksum_at_once() -> None:
    message = wire.Message(wire.CNXN, wire.VERSION_SKIP_CHECKSUM, 4096, b"host::")
    data = wire.encode_header(message, with_checksum=False) + message.payload
    assert wire.receive(Bytes(data), max_bytes=100, check=True) == message
    old = message._replace(arg0=wire.VERSION_MIN)
    data = wire.encode_header(old, with_checksum=False) + old.payload
    with pytest.raises(wire.AdbProtocolError, match="checksum"):
        wire.receive(Bytes(data), max_bytes=100, check=True)


def test_socket_closed_midway_is_reported() -> None:
    here, there = socket.socketpair()
    with here, there:
        there.sendall(b"x" * 10)
        there.shutdown(socket.SHUT_WR)
        with pytest.raises(wire.ConnectionEndedError):
            wire.receive(here, max_bytes=10, check=True)
