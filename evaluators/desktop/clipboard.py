"""The content of a desktop's clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

XCLIP = ("/usr/bin/xclip", "-selection", "clipboard", "-out", "-target", "UTF8_STRING")
_TIMEOUT_S = 3.0


@evaluator(on="desktop")
def clipboard_equals(guest: Guest, text: str) -> bool:
    """Return whether the clipboard holds exactly this text.

    White space at its ends is ignored. A clipboard that holds no text, such as a picture, is
    unmet. An owner that does not provide its text makes the result inconclusive.

    Example:
        ``{on: desktop, check: clipboard_equals, with: {text: "0441234567"}}``

    Args:
        guest: the desktop.
        text: the whole text; must not be empty.

    Raises:
        ValueError: `text` is empty, or the clipboard could not be read.
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
        ValueError: `text` is empty, or the clipboard could not be read.
    """
    if not text:
        raise ValueError("the text must not be empty")
    return text in _read(guest)


def _read(guest: Guest) -> str:
    code, out, err = guest.run_as_user(XCLIP, _TIMEOUT_S)
    message = err.decode("utf-8", "replace")
    if code == 0:
        return out.decode("utf-8", "replace")
    if "not available" in message:
        return ""
    raise ValueError(f"xclip could not read the clipboard: {message.strip()}")
