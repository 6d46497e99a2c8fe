"""The guest's end of a session: listeners on loopback addresses, and their names."""

from __future__ import annotations

import json
import socket
import sys
from typing import TYPE_CHECKING, Dict, Protocol, Tuple

from provisioning.probe.streams.frames import FrameError, FrameSplitter
from provisioning.probe.streams.multiplexer import Multiplexer

if TYPE_CHECKING:
    from provisioning.probe.streams.hosts import HostsFile

_BACKLOG = 64

Place = Tuple[str, int]
"""A loopback address and a port."""


class ByteChannel(Protocol):
    """The channel of one session."""

    def read(self) -> bytes:
        """Wait for bytes; return empty bytes at the end."""
        ...

    def write(self, data: bytes) -> None:
        """Send all bytes.

        Raises:
            OSError: the other end is gone.
        """
        ...


class GuestSession:
    """Serves one host, from its nonce to the end of the channel.

    Args:
        channel: channel to the host.
        hosts: where names are written; they are removed at the end.
    """

    def __init__(self, channel: ByteChannel, hosts: HostsFile) -> None:
        self._channel = channel
        self._hosts = hosts
        self._listeners: Dict[Place, socket.socket] = {}
        self._multiplexer = Multiplexer(channel.write, on_setup=self._set_up)

    def run(self, nonce: bytes) -> None:
        """Begin the session, and serve until the host closes it.

        Args:
            nonce: chosen by the host; what it reads before is of an older session.
        """
        self._channel.write(nonce)
        splitter = FrameSplitter()
        self._multiplexer.start()
        try:
            while not self._multiplexer.is_closed and (data := self._channel.read()):
                for frame in splitter.feed(data):
                    self._multiplexer.receive(frame)
        except FrameError as exc:
            sys.stderr.write(f"streams: the host sent an invalid frame: {exc}\n")
        finally:
            self._multiplexer.close()
            self._hosts.put({})

    def _set_up(self, content: bytes) -> None:
        """Listen where the host wants it, and answer what is wrong, if anything."""
        error = ""
        request = json.loads(content)
        try:
            listeners = {
                (str(row["address"]), int(port)): f"{row['service']}:{port}"
                for row in request["services"]
                for port in row["ports"]
            }
            named = [row for row in request["services"] if row["is_named"]]
            self._listen(listeners)
            self._hosts.put({row["address"]: [row["service"]] for row in named})
        except OSError as exc:
            error = str(exc)
        answer = {"number": request["number"], "error": error}
        self._multiplexer.send_setup(json.dumps(answer).encode())

    def _listen(self, wanted: Dict[Place, str]) -> None:
        """Keep the listeners that are still wanted, so that their connections stay."""
        sockets = {place: sock for place, sock in self._listeners.items() if place in wanted}
        new = []
        try:
            for place in wanted:
                if place not in sockets:
                    sockets[place] = _listener(place)
                    new.append(sockets[place])
        except OSError:
            for sock in new:
                sock.close()
            raise
        self._listeners = sockets
        self._multiplexer.listen({sockets[place]: name for place, name in wanted.items()})


def _listener(place: Place) -> socket.socket:
    try:
        return socket.create_server(place, backlog=_BACKLOG)
    except OSError as exc:
        raise OSError(exc.errno, f"{place[0]}:{place[1]}: {exc.strerror}") from exc
