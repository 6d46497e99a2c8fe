"""Carries many streams over one channel: a loop over sockets, and a thread that writes.

Both ends use it. In the guest it accepts connections of programs; outside it is told to connect
them. No end can make the other keep more than a window of data for each stream, and a stream whose
reader is slow delays no other.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from typing import TYPE_CHECKING

from provisioning.probe.streams.frames import (
    CREDIT,
    DATA,
    END,
    MAX_STREAMS,
    OPEN,
    RESET,
    SETUP,
    Frame,
    FrameError,
    unpack_count,
)
from provisioning.probe.streams.outgoing import Outgoing
from provisioning.probe.streams.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

_JOIN_S = 5.0


class Multiplexer:
    """The streams of one session.

    Args:
        write: sends bytes over the channel; may block.
        on_setup: called with the content of each SETUP frame.
        on_open: called with number and listener's name for each stream that the other end opens, to
            `attach` or `refuse` it later; None if the other end must not open any.
        on_end: called once with the reason when the session ends by itself; must not block.
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        *,
        on_setup: Callable[[bytes], None],
        on_open: Callable[[int, str], None] | None = None,
        on_end: Callable[[str], None] = lambda _reason: None,
    ) -> None:
        self._on_setup = on_setup
        self._on_open = on_open
        self._on_end = on_end
        self._lock = threading.RLock()
        self._streams: dict[int, Stream] = {}
        self._listeners: dict[socket.socket, str] = {}
        self._last_number = 0
        self._is_closed = False
        self._touched: set[int] = set()
        self._selector = selectors.DefaultSelector()
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._outgoing = Outgoing(write, self._continue, self.end)
        self._loop = threading.Thread(target=self._run, name="streams", daemon=True)

    @property
    def is_closed(self) -> bool:
        """Return whether the session has ended."""
        return self._is_closed

    def start(self) -> None:
        """Start the threads."""
        self._outgoing.start()
        self._loop.start()

    def send_setup(self, content: bytes) -> None:
        """Send a SETUP frame."""
        self._outgoing.put(Frame(SETUP, 0, content))

    def listen(self, listeners: Mapping[socket.socket, str]) -> None:
        """Accept connections of exactly these sockets from now on; others are closed.

        Args:
            listeners: listening sockets, which the multiplexer owns, and their names.
        """
        with self._lock:
            gone = [sock for sock in self._listeners if sock not in listeners]
            self._listeners = dict(listeners)
            for sock in self._listeners:
                sock.setblocking(False)
            for sock in gone:
                # Not used by the loop any more, which holds the lock whenever it uses one.
                with contextlib.suppress(KeyError, ValueError):
                    self._selector.unregister(sock)
                sock.close()
        self._wake()

    def attach(self, number: int, sock: socket.socket) -> None:
        """Connect a stream that the other end opened to a socket, which the multiplexer owns."""
        sock.setblocking(False)
        with self._lock:
            stream = self._streams.get(number)
            if stream is not None and not self._is_closed:
                stream.sock = sock
                self._touched.add(number)
                sock = None  # type: ignore[assignment]
        if sock is not None:  # it was reset meanwhile
            sock.close()
        self._wake()

    def refuse(self, number: int) -> None:
        """End a stream that the other end opened."""
        with self._lock:
            self._reset(number)

    def keep_only(self, listeners: Container[str]) -> None:
        """End all streams that were opened to other listeners than these."""
        with self._lock:
            for stream in list(self._streams.values()):
                if stream.listener not in listeners:
                    self._reset(stream.number)

    def receive(self, frame: Frame) -> None:
        """Handle a frame of the other end.

        Raises:
            FrameError: it violates the protocol.
        """
        if frame.kind == SETUP:
            self._on_setup(frame.payload)
            return
        if frame.kind == OPEN:
            self._take_open(frame)
            return
        with self._lock:
            stream = self._streams.get(frame.stream)
            if stream is None:  # it has ended on this side
                return
            if frame.kind == DATA:
                stream.take_data(frame.payload)
            elif frame.kind == CREDIT:
                stream.take_credit(unpack_count(frame.payload))
            elif frame.kind == END:
                stream.take_end()
            else:
                self._forget(stream)
                stream.reset()
            self._touched.add(frame.stream)
        self._wake()

    def end(self, reason: str) -> None:
        """End the session because of an error; all programs notice it."""
        if self._close():
            self._on_end(reason)

    def close(self) -> None:
        """End the session, and wait for its threads; may be called more than once."""
        self._close()
        self._outgoing.join(_JOIN_S)
        if self._loop.is_alive() and threading.current_thread() is not self._loop:
            self._loop.join(_JOIN_S)

    def _take_open(self, frame: Frame) -> None:
        if self._on_open is None or frame.stream <= self._last_number:
            raise FrameError("a stream that must not be opened")
        self._last_number = frame.stream
        listener = frame.payload.decode("utf-8", "replace")
        with self._lock:
            is_full = len(self._streams) >= MAX_STREAMS
            if not is_full:
                self._streams[frame.stream] = Stream(frame.stream, listener)
        if is_full:
            self._outgoing.put(Frame(RESET, frame.stream))
        else:
            self._on_open(frame.stream, listener)

    def _run(self) -> None:
        with self._selector:
            self._selector.register(self._wake_in, selectors.EVENT_READ)
            while not self._is_closed:
                self._update()
                ready = self._selector.select()
                with self._lock:
                    for key, events in ready:
                        self._handle(key.fileobj, key.data, events)
            with self._lock:
                for stream in self._streams.values():
                    stream.reset()
                self._streams.clear()
                for sock in self._listeners:
                    sock.close()
                self._listeners.clear()
        self._wake_in.close()
        self._wake_out.close()

    def _handle(self, sock: object, number: int | None, events: int) -> None:
        if self._is_closed:
            return
        if sock is self._wake_in:
            with contextlib.suppress(BlockingIOError):
                self._wake_in.recv(4096)
        elif isinstance(sock, socket.socket) and sock in self._listeners:
            self._accept(sock)
        elif number in self._streams and self._streams[number].sock is sock:
            self._transfer(self._streams[number], events)

    def _accept(self, listener: socket.socket) -> None:
        """Open a stream for a program that has connected."""
        try:
            sock, _ = listener.accept()
            # Otherwise, small writes wait up to 40 ms for the program's acknowledgement.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:  # the program is gone already
            return
        if len(self._streams) >= MAX_STREAMS:
            sock.close()
            return
        sock.setblocking(False)
        self._last_number += 1
        name = self._listeners[listener]
        self._streams[self._last_number] = Stream(self._last_number, name, sock)
        self._touched.add(self._last_number)
        self._outgoing.put(Frame(OPEN, self._last_number, name.encode()))

    def _transfer(self, stream: Stream, events: int) -> None:
        self._touched.add(stream.number)
        try:
            frames = []
            if events & selectors.EVENT_READ and stream.wants_read:
                frames.append(stream.read())
            if events & selectors.EVENT_WRITE and stream.wants_write:
                frames.append(stream.write())
        except OSError:
            self._reset(stream.number)
            return
        for frame in frames:
            if frame is not None:
                self._outgoing.put(frame)

    def _update(self) -> None:
        """Register the sockets that the loop waits for."""
        with self._lock:
            known = self._selector.get_map()
            for listener in self._listeners:
                if listener not in known:
                    self._selector.register(listener, selectors.EVENT_READ)
            touched, self._touched = self._touched, set()
            for number in touched:
                stream = self._streams.get(number)
                if stream is None or stream.sock is None:
                    continue
                if stream.is_done:
                    self._forget(stream)
                    stream.close()
                else:
                    self._watch(stream, stream.sock)

    def _watch(self, stream: Stream, sock: socket.socket) -> None:
        events = 0
        if stream.wants_read:
            if self._outgoing.is_busy:
                self._touched.add(stream.number)
            else:
                events |= selectors.EVENT_READ
        if stream.wants_write:
            events |= selectors.EVENT_WRITE
        if sock not in self._selector.get_map():
            if events:
                self._selector.register(sock, events, stream.number)
        elif events:
            self._selector.modify(sock, events, stream.number)
        else:
            self._selector.unregister(sock)

    def _reset(self, number: int) -> None:
        """End a stream on both sides."""
        stream = self._streams.get(number)
        if stream is not None:
            self._forget(stream)
            self._outgoing.put(stream.reset())

    def _forget(self, stream: Stream) -> None:
        self._streams.pop(stream.number, None)
        if stream.sock is not None:
            with contextlib.suppress(KeyError, ValueError, RuntimeError):
                self._selector.unregister(stream.sock)

    def _continue(self) -> None:
        """Read data of programs again, which `_watch` postponed."""
        self._wake()

    def _close(self) -> bool:
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
        self._outgoing.close()
        self._wake()
        return not was_closed

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # woken already, or closed
            self._wake_out.send(b"\0")
