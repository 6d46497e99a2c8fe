from __future__ import annotations

import socket
import struct
import threading
from typing import TYPE_CHECKING

import pytest

from provisioning.desktop.container.link import ExecTransport

if TYPE_CHECKING:
    from collections.abc import Iterator

OUT, ERR = 1, 2


class Attached:
    """What the SDK returns: a file over a socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def close(self) -> None:
        self._sock.close()


@pytest.fixture
def ends() -> Iterator[tuple[ExecTransport, socket.socket]]:
    near, far = socket.socketpair()
    transport = ExecTransport(Attached(near))
    yield transport, far
    transport.close()
    far.close()


Ends = tuple[ExecTransport, socket.socket]


def frame(kind: int, data: bytes) -> bytes:
    return struct.pack(">BxxxL", kind, len(data)) + data


def test_output_has_no_frame_headers_and_no_errors(ends: Ends) -> None:
    transport, far = ends
    far.sendall(frame(OUT, b"one") + frame(ERR, b"oops") + frame(OUT, b"") + frame(OUT, b"two"))
    assert (transport.read(), transport.read()) == (b"one", b"two")
    assert transport.read_error_tail() == "oops"


def test_frames_may_arrive_in_pieces(ends: Ends) -> None:
    transport, far = ends
    data = bytes(range(256)) * 4096

    def send() -> None:
        whole = frame(OUT, data)
        for start in range(0, len(whole), 1009):
            far.sendall(whole[start : start + 1009])
        far.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send)
    sender.start()
    assert b"".join(iter(transport.read, b"")) == data
    sender.join()


@pytest.mark.parametrize("cut", [b"", b"\x01\x00", frame(OUT, b"whole")[:-2]])
def test_end_of_stream_within_a_frame_is_an_end(ends: Ends, cut: bytes) -> None:
    transport, far = ends
    far.sendall(cut)
    far.shutdown(socket.SHUT_WR)
    assert b"".join(iter(transport.read, b"")) == cut[8:]


def test_close_wakes_the_reader_and_can_be_repeated(ends: Ends) -> None:
    transport, far = ends
    got: list[bytes] = []

    def read() -> None:
        try:
            got.append(transport.read())
        except OSError:
            got.append(b"")

    reader = threading.Thread(target=read)
    reader.start()
    transport.close()
    reader.join(5)
    assert got == [b""]
    transport.close()
    assert far.recv(1) == b""


def test_written_data_arrives(ends: Ends) -> None:
    transport, far = ends
    transport.write(b"ask\n")
    assert far.recv(10) == b"ask\n"
