"""Evaluators of a desktop's clipboard."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.errors import ObstructedError

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

XCLIP = ("/usr/bin/xclip", "-selection", "clipboard", "-out", "-target")
_TIMEOUT_S = 3.0
_FORMS = {"UTF8_STRING": "utf-8", "text/plain;charset=utf-8": "utf-8", "STRING": "latin-1"}
"""Text targets and their encodings, in order of preference."""

_FILES = frozenset({"x-special/gnome-copied-files", "x-special/mate-copied-files"})
"""Targets of copied files, which are also offered as text with their paths."""

_ADDRESSES = "text/uri-list"
"""Target of copied files, and of links."""


@evaluator(on="desktop")
def clipboard_equals(guest: Guest, text: str) -> bool:
    """Return whether the clipboard contains exactly the given text.

    White space at the ends is ignored, CRLF counts as a newline, and Unicode is compared in NFC. A
    clipboard without text, such as with a picture or copied files, is unmet, as is one whose owner
    does not provide its text. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: clipboard_equals, with: {text: "0441234567"}}``

    Args:
        guest: the desktop.
        text: the complete text; must not be empty.

    Raises:
        ValueError: `text` is empty.
    """
    if not text.strip():
        raise ValueError("the text must not be empty")
    return _read(guest).strip() == _plain(text).strip()


@evaluator(on="desktop")
def clipboard_contains(guest: Guest, text: str) -> bool:
    """Return whether the text in the clipboard contains the given text.

    The comparison is that of ``clipboard_equals``, and case-sensitive. Proves the state, not who
    caused it.

    Example:
        ``{on: desktop, check: clipboard_contains, with: {text: Invoice 4711}}``

    Args:
        guest: the desktop.
        text: the part; must not be empty.

    Raises:
        ValueError: `text` is empty.
    """
    if not text:
        raise ValueError("the text must not be empty")
    return _plain(text) in _read(guest)


def _read(guest: Guest) -> str:
    """Return the text, in a target that the owner offers; empty if it offers none.

    Raises:
        ObstructedError: the owner does not provide the text.
    """
    offered = (_ask(guest, "TARGETS") or b"UTF8_STRING").decode("latin-1").split()
    form = next((form for form in _FORMS if form in offered), None)
    if form is None or _holds_files(guest, offered):
        return ""
    return _plain((_ask(guest, form) or b"").decode(_FORMS[form], "replace"))


def _holds_files(guest: Guest, offered: list[str]) -> bool:
    """Return whether files were copied, instead of text or the address of a page."""
    if _FILES.intersection(offered):
        return True
    addresses = _ask(guest, _ADDRESSES) if _ADDRESSES in offered else None
    return addresses is not None and b"file://" in addresses


def _ask(guest: Guest, form: str) -> bytes | None:
    """Return the clipboard in a target; None if it is not offered."""
    code, out, err = guest.run_as_user((*XCLIP, form), _TIMEOUT_S)
    message = err.decode("utf-8", "replace")
    if code == 0:
        return out
    if code > 0 and "not available" in message:
        return None
    raise ObstructedError(f"xclip could not read the clipboard ({code}): {message.strip()}")


def _plain(text: str) -> str:
    """Return a text in Unicode NFC, with CRLF replaced by newlines."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
