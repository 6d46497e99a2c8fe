"""The content of a desktop's clipboard."""

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
"""Forms of text and their encodings, the best one first."""

_FILES = frozenset({"x-special/gnome-copied-files", "x-special/mate-copied-files"})
"""Forms of copied files, which are offered as the text of their paths, too."""

_ADDRESSES = "text/uri-list"
"""Form of copied files, and of links."""


@evaluator(on="desktop")
def clipboard_equals(guest: Guest, text: str) -> bool:
    """Return whether the clipboard holds exactly this text.

    White space at its ends is ignored, CRLF counts as a newline, and letters with accents in one or
    apart are the same. A clipboard that holds no text, such as a picture or copied files, is unmet,
    and so is an owner that does not provide its text. Proves the state, not who made it.

    Example:
        ``{on: desktop, check: clipboard_equals, with: {text: "0441234567"}}``

    Args:
        guest: the desktop.
        text: the whole text; must not be empty.

    Raises:
        ValueError: `text` is empty.
    """
    if not text.strip():
        raise ValueError("the text must not be empty")
    return _read(guest).strip() == _plain(text).strip()


@evaluator(on="desktop")
def clipboard_contains(guest: Guest, text: str) -> bool:
    """Return whether the clipboard holds a text that contains another, case-sensitive.

    Compared as by ``clipboard_equals``. Proves the state, not who made it.

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
    """Return the text, asked for in one form that the owner offers; empty when it offers none.

    Raises:
        ObstructedError: the owner does not provide it.
    """
    offered = (_ask(guest, "TARGETS") or b"UTF8_STRING").decode("latin-1").split()
    form = next((form for form in _FORMS if form in offered), None)
    if form is None or _holds_files(guest, offered):
        return ""
    return _plain((_ask(guest, form) or b"").decode(_FORMS[form], "replace"))


def _holds_files(guest: Guest, offered: list[str]) -> bool:
    """Return whether files were copied, not text or the address of a page."""
    if _FILES.intersection(offered):
        return True
    addresses = _ask(guest, _ADDRESSES) if _ADDRESSES in offered else None
    return addresses is not None and b"file://" in addresses


def _ask(guest: Guest, form: str) -> bytes | None:
    """Return the clipboard in a form; None when it is not offered."""
    code, out, err = guest.run_as_user((*XCLIP, form), _TIMEOUT_S)
    message = err.decode("utf-8", "replace")
    if code == 0:
        return out
    if code > 0 and "not available" in message:
        return None
    raise ObstructedError(f"xclip could not read the clipboard ({code}): {message.strip()}")


def _plain(text: str) -> str:
    """Return a text composed, with plain newlines."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
