"""Guests reach services by streams over one channel; sockets, threads and services are real."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until
from foundation.errors import LinkClosedError, LinkError, MachineError, SpecError
from provisioning.links.local import ProcessTransport
from provisioning.links.ssh import SshTransport, open_ssh
from provisioning.links.virtio import SocketTransport
from provisioning.links.zipapp import build_probe
from provisioning.probe.streams.frames import (
    DATA,
    MAX_STREAMS,
    OPEN,
    RESET,
    SETUP,
    WINDOW_BYTES,
    Frame,
    FrameSplitter,
    encode,
)
from provisioning.reach.guest import GuestReach
from tests.standins.reach import GuestStandIn, count, echo, free_port, tcp_service
from tests.standins.ssh import SshStandIn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from provisioning.protocols import Stream

TIMEOUT_S = 20


@pytest.fixture
def guest(tmp_path: Path) -> Iterator[GuestStandIn]:
    standin = GuestStandIn(tmp_path)
    yield standin
    standin.join()


@pytest.fixture
def reach(guest: GuestStandIn) -> Iterator[GuestReach]:
    reach = GuestReach(guest.open, name="guest")
    yield reach
    reach.close()


def address_of(guest: GuestStandIn, name: str) -> str:
    """Look a name up like the guest's resolver."""
    for line in guest.hosts.read_text().splitlines():
        address, *names = line.partition("#")[0].split()
        if name in names:
            return address
    return ""


def call(guest: GuestStandIn, name: str, port: int) -> socket.socket:
    return socket.create_connection((address_of(guest, name), port), timeout=TIMEOUT_S)


def ask(guest: GuestStandIn, name: str, port: int, data: bytes = b"hello") -> bytes:
    with call(guest, name, port) as sock:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
        return read_all(sock)


def read_all(sock: socket.socket) -> bytes:
    return b"".join(iter(lambda: sock.recv(1 << 16), b""))


def send_all(sock: socket.socket, data: bytes) -> None:
    sock.sendall(data)
    sock.shutdown(socket.SHUT_WR)


def test_services_are_reached_by_name_even_if_they_have_the_same_port(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port = free_port()
    with tcp_service(echo) as first, tcp_service(count) as second:
        reach.serve({"mail.test": {port: first}, "shop": {port: second}})
        assert ask(guest, "mail.test", port) == b"hello"
        assert ask(guest, "shop", port) == b"5 bytes"
        reach.stop()
    assert guest.hosts.read_text() == "127.0.0.1\tlocalhost\n"


def test_stopped_service_refuses_connections_and_has_no_name(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port = free_port()
    with tcp_service(echo) as service:
        reach.serve({"mail": {port: service}})
        address = address_of(guest, "mail")
        reach.stop()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((address, port), timeout=TIMEOUT_S)
    assert not address_of(guest, "mail")


def test_other_services_keep_their_connections_when_one_is_added(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port, other = free_port(), free_port()
    with tcp_service(echo) as service:
        reach.serve({"mail": {port: service}})
        with call(guest, "mail", port) as sock:
            reach.serve({"mail": {port: service}, "shop": {other: service}})
            sock.sendall(b"still here")
            assert sock.recv(100) == b"still here"
        assert ask(guest, "shop", other) == b"hello"


def test_connections_of_a_service_that_is_withdrawn_end(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port, other = free_port(), free_port()
    with tcp_service(echo) as service:
        reach.serve({"mail": {port: service}, "shop": {other: service}})
        with call(guest, "mail", port) as mail, call(guest, "shop", other) as shop:
            for sock in (mail, shop):
                sock.sendall(b"x")
                assert sock.recv(1) == b"x"
            reach.serve({"mail": {port: service}})
            assert is_ended(shop)
            mail.sendall(b"y")
            assert mail.recv(1) == b"y"


def test_much_data_arrives_complete_in_both_directions(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port, sent = free_port(), bytes(range(256)) * (32 << 10)
    with tcp_service(echo) as service:
        reach.serve({"mail": {port: service}})
        with call(guest, "mail", port) as sock:
            writer = threading.Thread(target=send_all, args=(sock, sent))
            start_s = time.monotonic()
            writer.start()
            received = read_all(sock)
            writer.join()
            assert received == sent
            assert len(sent) / (time.monotonic() - start_s) > (1 << 20)  # bytes per second


def test_many_streams_at_once_do_not_mix(guest: GuestStandIn, reach: GuestReach) -> None:
    port, results = free_port(), {}
    with tcp_service(echo) as service:
        reach.serve({"mail": {port: service}})

        def run(number: int) -> None:
            results[number] = ask(guest, "mail", port, bytes([number]) * 100_000)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(MAX_STREAMS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == {number: bytes([number]) * 100_000 for number in range(MAX_STREAMS)}


def test_connections_beyond_the_limit_are_closed_and_others_work(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port = free_port()
    with tcp_service(echo) as service:
        reach.serve({"mail": {port: service}})
        held = [call(guest, "mail", port) for _ in range(MAX_STREAMS)]
        for sock in held:
            sock.sendall(b"x")
            assert sock.recv(1) == b"x"
        with call(guest, "mail", port) as one_more:
            assert is_ended(one_more)
        held.pop().close()

        def has_place() -> bool:
            with call(guest, "mail", port) as sock:
                return not is_ended(sock, b"y")

        assert wait_until(has_place, timeout_s=TIMEOUT_S, every_s=0.05)
        for sock in held:
            sock.close()


def is_ended(sock: socket.socket, data: bytes = b"") -> bool:
    """Return whether a connection ends instead of returning data."""
    try:
        if data:
            sock.sendall(data)
        return sock.recv(1) == b""
    except ConnectionError:
        return True


def test_slow_reader_is_waited_for_and_delays_no_other_stream(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port, sent = free_port(), 32 << 20
    progress = [0]

    def pour(sock: socket.socket) -> None:
        if sock.recv(1) == b"?":
            sock.sendall(b"quick")
            return
        piece = bytes(1 << 16)
        for _ in range(sent // len(piece)):
            sock.sendall(piece)
            progress[0] += len(piece)

    with tcp_service(pour) as service:
        reach.serve({"mail": {port: service}})
        with call(guest, "mail", port) as slow:
            slow.sendall(b"!")
            assert wait_until(stands_still(progress), timeout_s=TIMEOUT_S, every_s=0.01)
            # Far less than everything is kept on the way.
            assert progress[0] < sent // 2
            assert ask(guest, "mail", port, b"?") == b"quick"
            assert len(read_all(slow)) == sent


def stands_still(progress: list[int]) -> Callable[[], bool]:
    """Return whether a number is above 0 and was the same in the last 20 calls."""
    seen: list[int] = []

    def is_same() -> bool:
        seen.append(progress[0])
        return seen[-1] > 0 and len(seen) >= 20 and len(set(seen[-20:])) == 1

    return is_same


def test_half_closed_connection_still_gets_its_answer(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port = free_port()
    with tcp_service(count) as service:
        reach.serve({"mail": {port: service}})
        assert ask(guest, "mail", port, b"x" * 3_000_000) == b"3000000 bytes"


def test_connection_is_reset_if_no_service_answers(guest: GuestStandIn, reach: GuestReach) -> None:
    port = free_port()
    reach.serve({"mail": {port: ("127.0.0.1", free_port())}})
    # It may be reset before the program is told that it is connected, or before it ends its request.
    with pytest.raises(OSError, match=r"reset by peer|is not connected"):
        ask(guest, "mail", port)


def test_reset_by_the_service_arrives_as_a_reset(guest: GuestStandIn, reach: GuestReach) -> None:
    port = free_port()

    def slam(sock: socket.socket) -> None:
        sock.recv(1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with tcp_service(slam) as service:
        reach.serve({"mail": {port: service}})
        with call(guest, "mail", port) as sock:
            sock.sendall(b"x")
            with pytest.raises(ConnectionResetError):
                sock.recv(1)


def test_program_that_ends_abruptly_ends_the_services_connection(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port, ended = free_port(), threading.Event()

    def wait(sock: socket.socket) -> None:
        try:
            while sock.recv(100):
                pass
        finally:
            ended.set()

    with tcp_service(wait) as service:
        reach.serve({"mail": {port: service}})
        sock = call(guest, "mail", port)
        sock.sendall(b"x")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
        assert ended.wait(TIMEOUT_S)


def test_names_and_streams_end_when_the_host_is_gone(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port = free_port()
    with tcp_service(echo) as service:
        reach.serve({"mail": {port: service}})
        with call(guest, "mail", port) as sock:
            sock.sendall(b"x")
            assert sock.recv(1) == b"x"
            reach.suspend()
            assert is_ended(sock)
        guest.join()
    assert not address_of(guest, "mail")


def test_after_a_rewind_the_same_services_are_reached_again(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port = free_port()
    with tcp_service(echo) as service:
        reach.serve({"mail": {port: service}})
        assert ask(guest, "mail", port) == b"hello"
        reach.suspend()
        guest.join()
        reach.resume()
        assert ask(guest, "mail", port) == b"hello"


def test_machine_that_was_given_away_reaches_nothing_after_its_next_rewind(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    with tcp_service(echo) as service:
        reach.serve({"mail": {free_port(): service}})
        reach.close()
        reach.resume()
    guest.join()
    assert not address_of(guest, "mail")


def test_killed_guest_is_noticed_and_serve_begins_again(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port = free_port()
    with tcp_service(echo) as service:
        reach.serve({"mail": {port: service}})
        assert guest.inner is not None
        guest.inner.shutdown(socket.SHUT_RDWR)
        assert wait_until(lambda: reach.why_ended != "", timeout_s=TIMEOUT_S, every_s=0.01)
        guest.join()
        reach.serve({"mail": {port: service}})
        assert not reach.why_ended
        assert ask(guest, "mail", port) == b"hello"


def test_port_that_is_in_use_is_reported(guest: GuestStandIn, reach: GuestReach) -> None:
    with (
        socket.create_server(("0.0.0.0", 0)) as own,  # noqa: S104 - as a guest's server does
        pytest.raises(MachineError, match="in use"),
    ):
        reach.serve({"mail": {own.getsockname()[1]: ("127.0.0.1", 9)}})
    guest.join()
    assert not address_of(guest, "mail")


@pytest.mark.parametrize("name", ["", "Mail", "a b", "-x", "localhost", "127.0.0.1", "x" * 64])
def test_name_that_is_no_host_name_is_refused(reach: GuestReach, name: str) -> None:
    with pytest.raises(SpecError, match="cannot be the name"):
        reach.serve({name: {80: ("127.0.0.1", 9)}})


def test_port_out_of_range_is_refused(reach: GuestReach) -> None:
    with pytest.raises(SpecError, match="cannot be a port"):
        reach.serve({"mail": {70000: ("127.0.0.1", 9)}})


def test_function_of_this_process_is_reached_beside_a_service(
    guest: GuestStandIn, reach: GuestReach
) -> None:
    port, own = free_port(), free_port()

    def serve(stream: Stream) -> None:
        stream.sendall(b"from here")
        stream.close()

    with tcp_service(echo) as service:
        reach.serve({"mail": {port: service}})
        with reach.serve_local(own, serve):
            with socket.create_connection(("127.0.0.1", own), timeout=TIMEOUT_S) as sock:
                assert read_all(sock) == b"from here"
            assert ask(guest, "mail", port) == b"hello"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", own), timeout=TIMEOUT_S)
        assert ask(guest, "mail", port) == b"hello"


class RudeGuest:
    """A guest's end that answers the first request, and then sends what it likes."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        outer, self.sock = socket.socketpair()
        self.sock.settimeout(TIMEOUT_S)
        self._outer = SocketTransport(outer)
        self._splitter = FrameSplitter()

    def open(self, nonce: bytes) -> SocketTransport:
        answer = json.dumps({"number": 1, "error": ""}).encode()
        self.sock.sendall(nonce)
        threading.Thread(target=self._answer, args=(answer,), name="rude").start()
        return self._outer

    def _answer(self, answer: bytes) -> None:
        self.wait_for(SETUP)
        self.sock.sendall(encode(Frame(SETUP, 0, answer)))

    def wait_for(self, kind: int) -> Frame:
        while not (found := [frame for frame in self.frames if frame.kind == kind]):
            data = self.sock.recv(1 << 16)
            assert data, "the host ended the session"
            self.frames += self._splitter.feed(data)
        return found[0]


@pytest.mark.parametrize(
    "rude",
    [
        b"\xff" * 64,
        encode(Frame(OPEN, 0, b"mail:80")),
        encode(Frame(SETUP, 0, b"[" * 20000)),
        encode(Frame(OPEN, 1, b"mail:80")) + encode(Frame(OPEN, 1, b"mail:80")),
        # More than the service's socket takes.
        encode(Frame(OPEN, 1, b"mail:80"))
        + encode(Frame(DATA, 1, bytes(32 << 10))) * (64 * WINDOW_BYTES // (32 << 10)),
    ],
    ids=["noise", "stream 0", "nested", "opened twice", "beyond its window"],
)
def test_guest_that_violates_the_protocol_is_cut_off(rude: bytes) -> None:
    guest = RudeGuest()
    reach = GuestReach(guest.open, name="guest")
    ready = threading.Event()

    def stay(sock: socket.socket) -> None:
        ready.wait(TIMEOUT_S)
        sock.close()

    with tcp_service(stay) as service:
        reach.serve({"mail": {80: service}})
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            guest.sock.sendall(rude)
        assert wait_until(lambda: "protocol" in reach.why_ended, timeout_s=TIMEOUT_S, every_s=0.01)
        ready.set()
    reach.close()
    guest.sock.close()


@pytest.mark.parametrize("name", ["mail:81", "other:80", "127.0.0.1:22", ""])
def test_guest_reaches_no_other_endpoint(name: str) -> None:
    guest = RudeGuest()
    reach = GuestReach(guest.open, name="guest")
    with tcp_service(echo) as service:
        reach.serve({"mail": {80: service}})
        guest.sock.sendall(encode(Frame(OPEN, 1, name.encode())))
        assert guest.wait_for(RESET).stream == 1
        reach.close()
    guest.sock.close()


def test_guest_that_never_answers_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("provisioning.reach.guest._SET_UP_TIMEOUT_S", 0.2)
    outer, inner = socket.socketpair()

    reach = GuestReach(lambda _nonce: SocketTransport(outer), name="guest")
    with inner, pytest.raises(LinkError, match="did not listen"):
        reach.serve({"mail": {80: ("127.0.0.1", 9)}})
    reach.close()


def test_guest_that_hangs_does_not_delay_the_end_of_its_session() -> None:
    """As before a rewind of a machine whose agent has stopped everything."""
    guest = RudeGuest()
    reach = GuestReach(guest.open, name="guest")

    def pour(sock: socket.socket) -> None:
        sock.sendall(bytes(8 << 20))

    with tcp_service(pour) as service:
        reach.serve({"mail": {80: service}})
        guest.sock.sendall(b"".join(encode(Frame(OPEN, n, b"mail:80")) for n in range(1, 20)))
        guest.wait_for(DATA)
        start_s = time.monotonic()
        reach.suspend()
        assert time.monotonic() - start_s < 3
    reach.close()
    guest.sock.close()


def test_probe_of_this_checkout_carries_streams_in_a_process(tmp_path: Path) -> None:
    zipapp, hosts, port = tmp_path / "probe.pyz", tmp_path / "hosts", free_port()
    zipapp.write_bytes(build_probe().data)
    hosts.write_text("::1 localhost")

    def open_process(nonce: bytes) -> ProcessTransport:
        argv = ["python3", "-I", str(zipapp), "--streams", nonce.hex(), "--hosts", str(hosts)]
        return ProcessTransport(argv)

    reach = GuestReach(open_process, name="guest")
    with tcp_service(echo) as service:
        reach.serve({"mail": {port: service}})
        assert hosts.read_text() == "::1 localhost\n127.77.0.1\tmail\t# mesocosm\n"
        with socket.create_connection(("127.77.0.1", port), timeout=TIMEOUT_S) as sock:
            sock.sendall(b"hello")
            assert sock.recv(100) == b"hello"
        reach.stop()
    assert hosts.read_text() == "::1 localhost\n"


@pytest.mark.slow
def test_streams_are_carried_over_ssh(tmp_path: Path) -> None:
    zipapp, hosts, port = tmp_path / "probe.pyz", tmp_path / "hosts", free_port()
    zipapp.write_bytes(build_probe().data)
    hosts.write_text("")
    server = SshStandIn(tmp_path)

    def open_program(nonce: bytes) -> SshTransport:
        argv = ["python3", "-I", str(zipapp), "--streams", nonce.hex(), "--hosts", str(hosts)]
        return SshTransport(open_ssh(server.target), argv)

    reach = GuestReach(open_program, name="guest")
    try:
        with tcp_service(count) as service:
            reach.serve({"mail": {port: service}})
            with socket.create_connection(("127.77.0.1", port), timeout=TIMEOUT_S) as sock:
                send_all(sock, bytes(2_000_000))
                assert read_all(sock) == b"2000000 bytes"
            reach.suspend()
        # The program ends with its input, and leaves no names.
        assert wait_until(lambda: not hosts.read_text(), timeout_s=TIMEOUT_S, every_s=0.05)
    finally:
        reach.close()
        server.close()


def test_process_that_cannot_start_is_reported(tmp_path: Path) -> None:
    reach = GuestReach(
        lambda _nonce: ProcessTransport(["python3", str(tmp_path / "missing")]), name="guest"
    )
    with pytest.raises(LinkClosedError):
        reach.serve({"mail": {80: ("127.0.0.1", 9)}})
