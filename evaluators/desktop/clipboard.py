"""The content of a desktop's clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.errors import ObstructedError, output_of

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

XCLIP = ("/usr/bin/xclip", "-selection", "clipboard", "-out", "-target", "UTF8_STRING")
_TIMEOUT_S = 3.0


@evaluator(on="desktop")
def clipboard_equals(guest: Guest, text: str) -> bool:
    """Return whether the clipboard holds exactly this text.

    White space at its ends is ignored. A clipboard that holds no text, such as a picture, is
    unmet, and so is an owner that does not provide its text.

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
    return _read(guest).strip() == text.strip()


@evaluator(on="desktop")
def clipboard_contains(guest: Guest, text: str) -> bool:
    """Return whether the clipboard holds a text that contains another, case-sensitive.

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
    return text in _read(guest)


def _read(guest: Guest) -> str:
    """Return the text.

    Raises:
        ObstructedError: the owner does not provide it.
    """
    code, out, message = output_of(guest, XCLIP, _TIMEOUT_S)
    if code == 0:
        return out
    if "not available" in message:
        return ""
    raise ObstructedError(f"xclip could not read the clipboard: {message.strip()}")
