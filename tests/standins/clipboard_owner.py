"""A program that owns a clipboard, with correct, invalid or missing replies."""

from __future__ import annotations

import select
import threading
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from Xlib import X, Xatom
from Xlib.display import Display
from Xlib.protocol import event

if TYPE_CHECKING:
    from typing import Self

_POLL_S = 0.05


class ReplyMode(Enum):
    """Kind of reply to requests."""

    WELL = auto()
    IN_PIECES = auto()
    REFUSES = auto()
    NEVER = auto()


class ClipboardOwner:
    """Owner of a selection during a block.

    Args:
        display: name of the X display.
        selection: name of the selection.
        text: content of the selection.
        reply_mode: kind of reply.
        piece_bytes: size of the pieces of an incremental transfer.
    """

    def __init__(
        self,
        display: str,
        selection: str,
        text: bytes,
        reply_mode: ReplyMode = ReplyMode.WELL,
        *,
        piece_bytes: int = 1000,
    ) -> None:
        self._display = Display(display)
        self._text, self._reply_mode, self._piece_bytes = text, reply_mode, piece_bytes
        self._window = self._display.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        self._atom = self._display.intern_atom
        self._selection = self._atom(selection)
        self._window.set_selection_owner(self._selection, X.CurrentTime)
        assert self._display.get_selection_owner(self._selection) == self._window
        self._pieces: list[bytes] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        self._display.close()

    def _serve(self) -> None:
        while not self._is_over.is_set():
            while self._display.pending_events():
                event = self._display.next_event()
                if event.type == X.SelectionRequest and self._reply_mode is not ReplyMode.NEVER:
                    self._answer(event)
                elif event.type == X.PropertyNotify and event.state == X.PropertyDelete:
                    self._send_piece(event.window, event.atom)
            select.select([self._display.fileno()], [], [], _POLL_S)

    def _answer(self, asked: Any) -> None:  # noqa: ANN401 - python-xlib is untyped
        prop = asked.property
        utf8 = self._atom("UTF8_STRING")
        if self._reply_mode is ReplyMode.REFUSES:
            prop = X.NONE
        elif asked.target == self._atom("TARGETS"):
            asked.requestor.change_property(prop, Xatom.ATOM, 32, [asked.target, utf8])
        elif self._reply_mode is ReplyMode.IN_PIECES:
            step = self._piece_bytes
            cuts = range(0, len(self._text), step)
            self._pieces = [*(self._text[at : at + step] for at in cuts), b""]
            asked.requestor.change_attributes(event_mask=X.PropertyChangeMask)
            asked.requestor.change_property(prop, self._atom("INCR"), 32, [len(self._text)])
        else:
            asked.requestor.change_property(prop, utf8, 8, self._text)
        fields = {"requestor": asked.requestor, "selection": asked.selection}
        notification = event.SelectionNotify(
            time=asked.time, target=asked.target, property=prop, **fields
        )
        asked.requestor.send_event(notification)
        self._display.flush()

    def _send_piece(self, window: Any, prop: int) -> None:  # noqa: ANN401
        if self._pieces:
            window.change_property(prop, self._atom("UTF8_STRING"), 8, self._pieces.pop(0))
            self._display.flush()
