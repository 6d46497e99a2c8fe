"""Content of the clipboards of an X display: digest of the text and the offered formats.

Source: Inter-Client Communication Conventions Manual 2.0, section 2, *Peer-to-Peer Communication
by Means of Selections*.
"""

from __future__ import annotations

import hashlib
import select
import struct
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from Xlib.display import Display

NAMES = ("CLIPBOARD", "PRIMARY")
MAX_BYTES = 4 << 20
"""Maximum size of a text; of a longer one only the beginning counts."""

NO_ANSWER = "its owner does not answer"
_TEXTS = ("UTF8_STRING", "text/plain;charset=utf-8", "STRING", "TEXT")
_PROPERTY = "MESOCOSM_SELECTION"
_MAX_TARGETS = 100
_LONGS = MAX_BYTES // 4


class NoAnswerError(Exception):
    """The owner of a selection did not answer before the deadline."""


class Selections:
    """Reader of the selections of a display, in the way that programs paste.

    Args:
        display: connection; events that arrive meanwhile are removed from its queue.
    """

    def __init__(self, display: Display) -> None:
        from Xlib import X

        self._x = X
        self._display = display
        self._window = display.screen().root.create_window(
            *(0, 0, 1, 1, 0), 0, X.InputOnly, X.CopyFromParent, event_mask=X.PropertyChangeMask
        )
        self._property = display.get_atom(_PROPERTY)
        self._incr = display.get_atom("INCR")
        self._string = display.get_atom("STRING")

    def look(self, deadline_s: float) -> dict[str, dict[str, Any]]:
        """Return ``owned``, ``targets``, ``text`` and ``trouble`` by selection name.

        ``targets`` are the names of the offered formats, sorted; ``text`` is the SHA-256 of the
        text, empty if it is not text or nobody owns the selection; ``trouble`` is the reason why
        the rest is unknown, empty if it is known.

        Args:
            deadline_s: on the monotonic clock. Each owner has an equal share of the remaining time;
                an owner that has not answered by then counts as silent.
        """
        selections = {}
        for index, name in enumerate(NAMES):
            now_s = time.monotonic()
            share_s = (deadline_s - now_s) / (len(NAMES) - index)
            selections[name] = self._one(name, now_s + share_s)
        return selections

    def raw_requests(self) -> list[bytes]:
        """Return encoded requests for the owners of all selections; empty if any has an owner.

        The content of a selection is its owner's, and is not part of the replies.
        """
        from Xlib.protocol import request

        atoms = [self._display.get_atom(name) for name in NAMES]
        if any(self._display.get_selection_owner(atom) for atom in atoms):
            return []
        encode = request.GetSelectionOwner._request.to_binary  # noqa: SLF001 - no public way
        return [encode(selection=atom) for atom in atoms]

    def _one(self, name: str, deadline_s: float) -> dict[str, Any]:
        from Xlib.error import XError

        state: dict[str, Any] = {"owned": False, "targets": [], "text": "", "trouble": ""}
        selection = self._display.get_atom(name)
        try:
            if not self._display.get_selection_owner(selection):
                return state
            state["owned"] = True
            targets = self._targets(selection, deadline_s)
            state["targets"] = sorted(targets)
            offered = [text for text in _TEXTS if text in targets]
            if offered:
                data = self._convert(selection, targets[offered[0]], deadline_s)
                state["text"] = hashlib.sha256(data).hexdigest()
        except NoAnswerError:
            state["trouble"] = NO_ANSWER
        except XError as exc:
            state["trouble"] = f"cannot be read: {type(exc).__name__}"
        return state

    def _targets(self, selection: int, deadline_s: float) -> dict[str, int]:
        """Return the atoms of the offered formats, by name."""
        data = self._convert(selection, self._display.get_atom("TARGETS"), deadline_s)
        atoms = struct.unpack(f"={len(data) // 4}I", data[: len(data) // 4 * 4])
        return {
            self._display.get_atom_name(atom): atom for atom in atoms[:_MAX_TARGETS] if atom != 0
        }

    def _convert(self, selection: int, target: int, deadline_s: float) -> bytes:
        """Request one format from the owner; return empty bytes if it refuses."""
        asked_at = self._server_time(deadline_s)
        self._window.convert_selection(selection, target, self._property, asked_at)
        self._display.flush()

        def is_answer(event: Any) -> bool:  # noqa: ANN401 - python-xlib is untyped
            # An answer that arrives after its deadline has an older time.
            return (
                event.type == self._x.SelectionNotify
                and (event.selection, event.target) == (selection, target)
                and event.time == asked_at
            )

        if not self._wait(is_answer, deadline_s).property:
            return b""
        kind, data = self._take()
        return self._take_pieces(deadline_s) if kind == self._incr else data

    def _take_pieces(self, deadline_s: float) -> bytes:
        """Collect a text that its owner sends in pieces; an empty piece marks the end."""
        data = b""
        while len(data) < MAX_BYTES:
            self._wait(lambda event: self._is_change(event, self._x.PropertyNewValue), deadline_s)
            _, piece = self._take()
            if not piece:
                break
            data += piece
        return data[:MAX_BYTES]

    def _server_time(self, deadline_s: float) -> int:
        """Return the server's time, which distinguishes this request from earlier ones."""
        self._window.change_property(self._property, self._string, 8, b"")
        self._display.flush()
        event = self._wait(
            lambda event: self._is_change(event, self._x.PropertyNewValue), deadline_s
        )
        return int(event.time)

    def _take(self) -> tuple[int, bytes]:
        """Read and delete the property, which requests the next piece; return type and bytes."""
        piece = self._window.get_property(
            self._property, self._x.AnyPropertyType, 0, _LONGS, delete=True
        )
        if piece is None:
            return 0, b""
        value = piece.value
        if isinstance(value, str):
            return piece.property_type, value.encode("utf-8", "surrogateescape")
        if isinstance(value, bytes):
            return piece.property_type, value
        return piece.property_type, struct.pack(f"={len(value)}I", *value)

    def _is_change(self, event: Any, state: int) -> bool:  # noqa: ANN401
        return bool(
            event.type == self._x.PropertyNotify
            and event.atom == self._property
            and event.state == state
        )

    def _wait(self, is_wanted: Callable[[Any], bool], deadline_s: float) -> Any:  # noqa: ANN401
        """Process events until the wanted one arrives."""
        while True:
            while self._display.pending_events():
                event = self._display.next_event()
                if is_wanted(event):
                    return event
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise NoAnswerError
            select.select([self._display.fileno()], [], [], left_s)
