"""Watch who writes the titles of windows, so that evaluators need not believe what stands on them.

A connection of root's has the X server record the few requests that make a window or change its
title, of all clients. Recording can be ended by any other client that names the context; such
requests are recorded as well, before they are carried out. Whenever the watch was interrupted, for
whatever reason, it begins anew, and titles written before count as unseen until their window's
owner writes them again.

One thread; every wait for the server is bounded by an alarm, for any client may grab the server.

Source: X Record Extension 1.13; X Window System Protocol, appendix B.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import time
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, NoReturn

from provisioning.probe import windows
from provisioning.probe.titles import Titles, requests_in

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from provisioning.probe.session import Session

ATTACH_S = 3.0
SYNC_S = 2.0
_RETRY_S = 1.0
_LONGEST_RETRY_S = 60.0
_READ_BYTES = 1 << 16
_MOST_READS = 16
_KEPT_BYTES = 1 << 16
_HEADER = struct.Struct("=BBHIBBHII12x")
# Categories of what is recorded, and requests of the extension.
_FROM_CLIENT, _CLIENT_DIED, _START, _END = 1, 3, 4, 5
_ENABLE = 5
_HARMFUL = frozenset({2, 3, 6, 7})
"""Register clients, unregister clients, disable and free a context."""

_CORE = ((1, 1), (18, 19), (114, 114))
_CHANGE_PROPERTY, _GET_INPUT_FOCUS = 18, 43
_CARDINAL, _ICON_NAME = 6, 37
_MARK = struct.Struct("=BBHIIIB3xII")
_GENERIC_EVENT = 35
_LATE = "the X server did not answer in time"


class WitnessError(Exception):
    """Nobody can say what the titles are; the message tells why."""


class _LateError(Exception):
    """The server did not answer in time."""


class Moment(NamedTuple):
    """A moment of the watch.

    Attributes:
        attached: how often the watch had begun.
        deaths: how often the holder of a client's identifiers had ended, by client.
    """

    attached: int
    deaths: Dict[int, int]


class Witness:
    """What is known of titles, and the two connections by which it is known.

    Args:
        is_first: nobody watched before, so that titles which stand are those of honest programs.
    """

    def __init__(self, *, is_first: bool) -> None:
        self._is_trusting = is_first
        self._titles: Titles | None = None
        self._control: socket.socket | None = None
        self._data: socket.socket | None = None
        self._buffer = bytearray()
        self._to_skip = 0
        self._opcode = 0
        self._context = 0
        self._window = 0
        self._attached = 0
        self._mark = 0
        self._seen_mark = 0
        self._is_recording = False
        self._trouble = "nobody has watched the windows yet"
        self._next_try_s = 0.0
        self._failures = 0

    @property
    def fd(self) -> int | None:
        """Where recorded requests arrive; None while nothing is recorded."""
        return None if self._data is None else self._data.fileno()

    @property
    def moment(self) -> Moment:
        """Who had ended so far, for `title_of`."""
        return Moment(self._attached, {} if self._titles is None else dict(self._titles.deaths))

    def wait_s(self) -> float | None:
        """Give how long until the next try to watch; None when there is nothing to try."""
        if self._data is not None or self._next_try_s == 0.0:
            return None
        return max(0.0, self._next_try_s - time.monotonic())

    def attend(self, session: Session | None, *, is_asked: bool = False) -> None:
        """Make sure that windows are watched.

        Args:
            session: the graphical session; without one nothing happens.
            is_asked: somebody waits for a title, so try even when the last trial just failed.
        """
        self.pump()
        is_time = is_asked or self._next_try_s <= time.monotonic()
        if self._data is not None or not is_time:
            return
        if session is None:
            self._next_try_s = 0.0
        else:
            self._attach(session)

    def pump(self) -> None:
        """Take in what was recorded, without waiting."""
        for _ in range(_MOST_READS):
            if self._data is None or not self._pump_once():
                break

    def titles_of(self, windows: list[int], since: Moment) -> list[tuple[str | None, str]]:
        """Give each window's title as of now, or None and why it cannot be told.

        Args:
            windows: their identifiers.
            since: a moment before the windows and their programs were looked at.
        """
        rows: list[tuple[str | None, str]] = []
        try:
            self.sync()
        except WitnessError as exc:
            return [(None, str(exc))] * len(windows)
        for window in windows:
            try:
                rows.append((self.title_of(window, since), ""))
            except WitnessError as exc:
                rows.append((None, str(exc)))
        return rows

    def title_of(self, window: int, since: Moment) -> str:
        """Give a window's title after `sync`.

        Args:
            window: its identifier.
            since: a moment before the window and its program were looked at.

        Raises:
            WitnessError: its owner was not seen writing it.
        """
        if self._titles is None:
            raise WitnessError(self._trouble)
        client = self._titles.client_of(window)
        ends = self._titles.deaths.get(client, 0)
        if self._attached != since.attached or ends != since.deaths.get(client, 0):
            raise WitnessError("programs came and went while windows were looked at")
        title = self._titles.title_of(window)
        if title is None:
            raise WitnessError("its program wrote it while nobody watched")
        return title

    def sync(self) -> None:
        """Take in all that the server did before now.

        Raises:
            WitnessError: the windows are not watched, or the server does not answer.
        """
        if self._data is None:
            raise WitnessError(self._trouble)
        end_s = time.monotonic() + SYNC_S
        self._write_mark()
        while self.fd is not None and self._seen_mark != self._mark:
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                raise WitnessError(_LATE)
            links = [one for one in (self._data, self._control) if one is not None]
            for one in select.select(links, [], [], left_s)[0]:
                if one is self._data:
                    self._pump_once()
                elif one is self._control:
                    self._drain()
        if self.fd is None:
            raise WitnessError(self._trouble)

    def leave(self) -> None:
        """Close the connections, in a fork too: the server hears nothing of a copy's end."""
        for one in (self._data, self._control):
            if one is not None:
                with contextlib.suppress(OSError):
                    one.close()
        self._data = self._control = None
        self._buffer.clear()
        self._to_skip = 0
        self._is_recording = False

    def _attach(self, session: Session) -> None:
        self.leave()
        self._titles = None
        self._attached += 1
        is_trusting, self._is_trusting = self._is_trusting, False
        self._failures += 1
        if "XAUTHORITY" in session.environment:
            os.environ["XAUTHORITY"] = session.environment["XAUTHORITY"]
        try:
            with _alarm(ATTACH_S):
                self._open(session.display, is_trusting=is_trusting)
            self._failures = 0
        except WitnessError as exc:
            self._lose(str(exc))
        except _LateError:
            self._lose(_LATE)
        except Exception as exc:  # noqa: BLE001 - python-xlib raises many kinds when a link ends
            self._lose(f"the X server cannot be watched: {exc!r}")

    def _open(self, name: str, *, is_trusting: bool) -> None:
        from Xlib.ext import record
        from Xlib.protocol.display import Display as Link

        display = windows.open_display(name)
        self._control = display.display.socket
        found = display.query_extension(record.extname)
        if found is None:
            raise WitnessError("the X server has no RECORD extension")
        self._opcode = found.major_opcode
        net_name = display.get_atom("_NET_WM_NAME")
        self._window = int(display.screen().root.create_window(-1, -1, 1, 1, 0, 0).id)
        self._context = int(display.record_create_context(0, [record.AllClients], self._ranges()))
        display.sync()
        link = Link(name)
        self._data = link.socket
        self._titles = Titles(link.info.resource_id_mask, net_name)
        self._data.setblocking(True)
        self._data.sendall(struct.pack("=BBHI", self._opcode, _ENABLE, 2, self._context))
        self._data.setblocking(False)
        while not self._is_recording:
            select.select([self._data], [], [])
            self._pump_once()
            if self._data is None:
                raise WitnessError(self._trouble)
        if is_trusting:
            for title in windows.standing_titles(display):
                self._titles.believe(title)
        # From now on only `sync` writes here, and nobody reads what is said.
        self._control.setblocking(False)

    def _ranges(self) -> list[dict[str, Any]]:
        none8, none16 = (0, 0), (0, 0, 0, 0)
        blank = {
            "core_requests": none8,
            "core_replies": none8,
            "ext_requests": none16,
            "ext_replies": none16,
            "delivered_events": none8,
            "device_events": none8,
            "errors": none8,
            "client_started": False,
            "client_died": True,
        }
        harmful = (self._opcode, self._opcode, min(_HARMFUL), max(_HARMFUL))
        core = [{**blank, "core_requests": one} for one in _CORE]
        return [*core, {**blank, "ext_requests": harmful}]

    def _write_mark(self) -> None:
        """Have something recorded that comes after all else; the answer makes the server send it."""
        assert self._control is not None  # noqa: S101 - it comes and goes with the other
        self._mark = self._mark % 0xFFFFFF + 1
        mark = _MARK.pack(
            _CHANGE_PROPERTY, 0, 7, self._window, _ICON_NAME, _CARDINAL, 32, 1, self._mark
        )
        try:
            self._control.sendall(mark + struct.pack("=BBH", _GET_INPUT_FOCUS, 0, 1))
        except BlockingIOError as exc:
            self._lose(_LATE)
            raise WitnessError(_LATE) from exc
        except OSError as exc:
            self._lose(f"the watch's connection broke: {exc}")

    def _drain(self) -> None:
        """Throw away what the server says on the connection that only writes."""
        assert self._control is not None  # noqa: S101 - callers look
        try:
            if not self._control.recv(_READ_BYTES):
                self._lose("the watch's connection to the X server was closed")
        except BlockingIOError:
            pass
        except OSError as exc:
            self._lose(f"the watch's connection broke: {exc}")

    def _lose(self, why: str) -> None:
        self.leave()
        self._titles = None
        self._trouble = why
        wait_s = min(_LONGEST_RETRY_S, _RETRY_S * 2 ** min(self._failures, 10))
        self._next_try_s = time.monotonic() + wait_s

    def _pump_once(self) -> bool:
        """Read once; tell whether there was anything."""
        assert self._data is not None  # noqa: S101 - callers look
        try:
            data = self._data.recv(_READ_BYTES)
        except BlockingIOError:
            return False
        except OSError as exc:
            self._lose(f"the watch's connection broke: {exc}")
            return False
        if not data:
            self._lose("the watch's connection to the X server was closed")
            return False
        skipped = min(self._to_skip, len(data))
        self._to_skip -= skipped
        self._buffer += data[skipped:]
        while self._take_one():
            pass
        return True

    def _take_one(self) -> bool:
        """Take one whole message off the buffer; of a long one only its beginning."""
        if self._data is None or len(self._buffer) < _HEADER.size:
            return False
        kind, category, _, words, _, is_swapped, _, client, _ = _HEADER.unpack_from(self._buffer)
        size = _HEADER.size + (4 * words if kind in {1, _GENERIC_EVENT} else 0)
        kept = min(size, _KEPT_BYTES)
        if len(self._buffer) < kept:
            return False
        data = bytes(self._buffer[_HEADER.size : kept])
        self._to_skip = max(0, size - len(self._buffer))
        del self._buffer[:size]
        if kind != 1:
            if kind == 0:
                self._lose("the X server refuses to record")
            return True
        self._hear(category, client, data, is_swapped=bool(is_swapped))
        return True

    def _hear(self, category: int, client: int, data: bytes, *, is_swapped: bool) -> None:
        assert self._titles is not None  # noqa: S101 - there is a connection
        if category == _FROM_CLIENT:
            for request in requests_in(data, client, is_swapped=is_swapped):
                if request.opcode == self._opcode:
                    if request.detail in _HARMFUL and request.numbers(1) == (self._context,):
                        self._lose("another program interfered with the watch on windows")
                        return
                elif request.numbers(1) == (self._window,):
                    if client == self._titles.client_of(self._window):
                        self._seen_mark = (request.numbers(6) or (0,) * 6)[5]
                else:
                    self._titles.take(request)
        elif category == _CLIENT_DIED:
            self._titles.bury(client)
        elif category == _START:
            self._is_recording = True
        elif category == _END:
            self._lose("the recording was ended")


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Bound what python-xlib waits for; main thread only."""
    before = signal.signal(signal.SIGALRM, _be_late)
    # Again and again: a first one may be lost in a finaliser, which swallows exceptions.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _be_late(*_: object) -> NoReturn:
    raise _LateError
