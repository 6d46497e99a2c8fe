"""The watch on titles of windows, on a real X server and against clients that would end it."""

from __future__ import annotations

import os
import struct
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from appliance.base import process
from appliance.base.clock import wait_until
from provisioning.probe.identity import Identity
from provisioning.probe.session import Session
from provisioning.probe.titles import MAX_CREATED, MAX_NAMED
from provisioning.probe.witness import SYNC_S, Moment, Witness, WitnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.skipif(process.find_tool("Xvfb") is None, reason="needs Xvfb"),
    # python-xlib leaves the file of cookies open, and some sockets are closed under it here.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]

_BIG_REQUEST_BYTES = 3_000_000


@dataclass
class Stage:
    """An X server, clients of it, and a witness."""

    display: str
    witness: Witness
    clients: list[Any] = field(default_factory=list)

    @property
    def session(self) -> Session:
        return Session(Identity.own(), os.getpid(), 0, {"DISPLAY": self.display})

    def client(self) -> Any:  # noqa: ANN401 - python-xlib is untyped
        from Xlib.display import Display

        self.clients.append(Display(self.display))
        return self.clients[-1]

    def told(self, window: Any, since: Moment | None = None) -> str | None:  # noqa: ANN401
        """Give the title that evaluators get now."""
        title, _ = self.witness.titles_of([window.id], since or self.witness.moment)[0]
        return title


@pytest.fixture
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("XAUTHORITY", os.devnull)
    more = getattr(request, "param", ())
    argv = ["Xvfb", "-displayfd", "1", "-screen", "0", "320x200x24", "-ac", "-nolisten", "tcp"]
    started = process.start([*argv, *more], env=dict(os.environ))
    assert started.stdout is not None
    started.display = f":{started.stdout.readline().decode().strip()}"  # type: ignore[attr-defined]
    yield started
    process.kill_group(started)
    for pipe in (started.stdout, started.stderr):
        if pipe is not None:
            pipe.close()


@pytest.fixture
def stage(server: Any) -> Iterator[Stage]:  # noqa: ANN401
    stage = Stage(server.display, Witness(is_first=True))
    yield stage
    stage.witness.leave()
    for client in stage.clients:
        client.display.socket.close()


def window_of(client: Any, title: str = "") -> Any:  # noqa: ANN401
    window = client.screen().root.create_window(0, 0, 10, 10, 0, 24)
    if title:
        name(client, window, title)
    client.sync()
    return window


def name(client: Any, window: Any, title: str, mode: int = 0) -> None:  # noqa: ANN401
    from Xlib.protocol import request

    kinds = {"_NET_WM_NAME": client.get_atom("UTF8_STRING"), "WM_NAME": 31}
    for one, kind in kinds.items():
        request.ChangeProperty(
            display=client.display,
            mode=mode,
            window=window.id,
            property=client.get_atom(one),
            type=kind,
            data=(8, title.encode()),
        )
    client.sync()


def test_the_owner_is_believed_and_nobody_else(stage: Stage) -> None:
    owner, other = stage.client(), stage.client()
    before = window_of(owner, "before")
    stage.witness.attend(stage.session)
    assert stage.told(before) == "before"
    after = window_of(owner)
    assert stage.told(after) == ""
    for window in (before, after):
        name(owner, window, "own")
        name(other, window, "other")
        assert stage.told(window) == "own"
        assert window.get_wm_name() == "other"
    name(owner, after, "my ", mode=1)
    name(owner, after, "!", mode=2)
    assert stage.told(after) == "my own!"


def test_windows_of_those_who_end_are_forgotten(stage: Stage) -> None:
    stage.witness.attend(stage.session)
    owner = stage.client()
    window = window_of(owner, "mine")
    since = stage.witness.moment
    assert stage.told(window, since) == "mine"
    owner.display.socket.close()
    assert wait_until(lambda: stage.told(window) is None, timeout_s=5)
    heir = stage.client()
    again = window_of(heir, "heir's")
    assert again.id == window.id, "the server gives the identifiers out again"
    assert stage.told(again) == "heir's"
    title, why = stage.witness.titles_of([again.id], since)[0]
    assert (title, why) == (None, "programs came and went while windows were looked at")


def connect_big_endian(display: str) -> tuple[Any, int]:
    """Give a connection that speaks the other byte order, and its identifiers' common part."""
    import socket

    link = socket.socket(socket.AF_UNIX)
    link.connect(f"/tmp/.X11-unix/X{display[1:]}")
    link.sendall(struct.pack(">BxHHHH2x", 0x42, 11, 0, 0, 0))
    head = link.recv(8, socket.MSG_WAITALL)
    body = link.recv(4 * struct.unpack(">H", head[6:])[0], socket.MSG_WAITALL)
    return link, struct.unpack_from(">I", body, 4)[0]


def test_clients_of_the_other_byte_order_are_understood(stage: Stage) -> None:
    stage.witness.attend(stage.session)
    asks = stage.client()
    link, base = connect_big_endian(stage.display)
    root = asks.screen().root.id
    link.sendall(struct.pack(">BBHIIhhHHHHII", 1, 24, 8, base, root, 0, 0, 9, 9, 0, 0, 0, 0))
    link.sendall(struct.pack(">BBHIIIB3xI4s", 18, 0, 7, base, 39, 31, 8, 4, b"Grot"))
    seen = asks.create_resource_object("window", base)
    assert wait_until(lambda: seen.get_wm_name() == "Grot", timeout_s=5)
    assert stage.told(seen) == "Grot"
    link.close()


def test_requests_of_megabytes_are_followed(stage: Stage) -> None:
    stage.witness.attend(stage.session)
    owner = stage.client()
    window = window_of(owner, "small")
    link = owner.display.socket
    big = owner.query_extension("BIG-REQUESTS").major_opcode
    names = ("_NET_WM_ICON_NAME", "_NET_WM_NAME", "UTF8_STRING")
    size, (*atoms, utf8) = _BIG_REQUEST_BYTES, [owner.get_atom(one) for one in names]
    link.setblocking(True)
    link.sendall(struct.pack("=BBH", big, 0, 1))
    for atom in atoms:
        head = struct.pack("=BBHII", 18, 0, 0, 7 + size // 4, window.id)
        link.sendall(head + struct.pack("=IIB3xI", atom, utf8, 8, size) + b"y" * size)
    link.sendall(struct.pack("=BBHIIIB3xI8s", 18, 0, 8, window.id, 39, 31, 8, 7, b"legacy\0\0"))
    assert wait_until(lambda: (stage.told(window) or "")[:1000] == "y" * 1000, timeout_s=20)
    assert len(stage.witness._buffer) < 1 << 17
    assert stage.told(window_of(stage.client(), "next")) == "next"


def test_a_flood_of_windows_keeps_the_table_bounded(stage: Stage) -> None:
    owner = stage.client()
    stage.witness.attend(stage.session)
    window = window_of(owner, "mine")
    link = stage.client().display.socket
    base, root = stage.clients[-1].display.info.resource_id_base, owner.screen().root.id
    link.setblocking(True)
    for first in range(0x100, 0x100 + 50_000, 500):
        some = bytearray()
        for one in range(base + first, base + first + 500):
            some += struct.pack("=BBHIIhhHHHHII", 1, 24, 8, one, root, 0, 0, 9, 9, 0, 0, 0, 0)
            some += struct.pack("=BBHIIIB3xI4s", 18, 0, 7, one, 39, 31, 8, 4, b"wave")
        link.sendall(some)
        stage.witness.attend(stage.session)
    last = owner.create_resource_object("window", base + 0x100 + 49_999)
    # One of so many may be forgotten, which is no verdict, but never mistaken.
    assert wait_until(lambda: last.get_wm_name() == "wave", timeout_s=30)
    assert stage.told(last) in {"wave", None}
    assert stage.told(window) == "mine"
    assert stage.witness._titles is not None
    assert len(stage.witness._titles) <= MAX_NAMED + MAX_CREATED


def harm(stage: Stage, other: Any, how: str) -> None:  # noqa: ANN401
    """Do to the watch what any client may."""
    from Xlib.ext import record
    from Xlib.protocol import request

    witness = stage.witness
    words = {"opcode": witness._opcode, "context": witness._context, "display": other.display}
    blank = {**witness._ranges()[0], "core_requests": (0, 0), "client_died": False}
    match how:
        case "disable":
            record.DisableContext(**words)
        case "free":
            record.FreeContext(**words)
        case "unregister":
            record.UnregisterClients(**words, clients=[record.AllClients])
        case "register":
            clients = [record.AllClients]
            record.RegisterClients(**words, element_header=0, clients=clients, ranges=[blank])
        case _:
            request.KillClient(display=other.display, resource=witness._window)
    other.sync()


@pytest.mark.parametrize("how", ["disable", "free", "unregister", "register", "kill"])
def test_who_ends_the_watch_gets_no_title_believed(stage: Stage, how: str) -> None:
    owner, other = stage.client(), stage.client()
    window = window_of(owner, "honest")
    stage.witness.attend(stage.session)
    assert stage.told(window) == "honest"
    since = stage.witness.moment
    harm(stage, other, how)
    name(other, window, "forged")
    assert stage.told(window) is None
    stage.witness.attend(stage.session, is_asked=True)
    assert stage.witness.fd is not None, "the watch goes on"
    assert stage.told(window) is None, "what stood in between is nobody's word"
    name(other, window, "forged again")
    assert stage.told(window) is None
    name(owner, window, "honest again")
    assert stage.told(window) == "honest again"
    assert stage.told(window, since) is None, "windows were looked at before"


def test_a_later_witness_believes_nothing_that_stood(stage: Stage) -> None:
    stage.witness = Witness(is_first=False)
    owner = stage.client()
    window = window_of(owner, "stood")
    stage.witness.attend(stage.session)
    assert stage.told(window) is None
    name(owner, window, "written")
    assert stage.told(window) == "written"


def test_a_grabbed_server_costs_no_more_than_the_deadline(stage: Stage) -> None:
    owner, other = stage.client(), stage.client()
    window = window_of(owner, "honest")
    stage.witness.attend(stage.session)
    other.grab_server()
    other.sync()
    start_s = time.monotonic()
    assert stage.told(window) is None
    assert time.monotonic() - start_s < SYNC_S + 1
    other.ungrab_server()
    other.sync()
    assert stage.told(window) == "honest", "nothing was missed meanwhile"


@pytest.mark.parametrize("server", [("-extension", "RECORD")], indirect=True)
def test_a_server_that_cannot_record_is_told(stage: Stage) -> None:
    window = window_of(stage.client(), "mine")
    stage.witness.attend(stage.session)
    assert stage.witness.titles_of([window.id], stage.witness.moment) == [
        (None, "the X server has no RECORD extension")
    ]


def test_a_server_that_is_gone_is_told(stage: Stage, server: Any) -> None:  # noqa: ANN401
    window = window_of(stage.client(), "mine")
    stage.witness.attend(stage.session)
    process.kill_group(server)
    with pytest.raises(WitnessError, match=r"broke|closed"):
        stage.witness.sync()
    assert stage.told(window) is None
    stage.witness.attend(stage.session, is_asked=True)
    assert stage.told(window) is None
    assert wait_until(lambda: stage.witness.wait_s() == 0, timeout_s=10)
    stage.witness.attend(None)
    assert stage.witness.wait_s() is None, "nothing to try while there is no session"
