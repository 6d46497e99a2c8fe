"""What lies on a desktop's clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

XCLIP = ("/usr/bin/xclip", "-selection", "clipboard", "-out", "-target", "UTF8_STRING")
_TIMEOUT_S = 3.0


@evaluator(on="desktop")
def clipboard_equals(guest: Guest, text: str) -> bool:
    """Tell whether exactly this text lies on the clipboard.

    White space at its ends does not count. A clipboard that holds no text, such as a picture, is
    unmet; an owner that does not hand its text out cannot be decided.

    Example:
        ``{on: desktop, check: clipboard_equals, with: {text: "0441234567"}}``

    Args:
        guest: the desktop.
        text: the whole text; never empty.

    Raises:
        ValueError: `text` is empty, or the clipboard could not be asked.
    """
    if not text.strip():
        raise ValueError("an empty clipboard cannot be told from none; give a text")
    return _read(guest).strip() == text.strip()


@evaluator(on="desktop")
def clipboard_contains(guest: Guest, text: str) -> bool:
    """Tell whether a text is part of what lies on the clipboard, letter case counting.

    Example:
        ``{on: desktop, check: clipboard_contains, with: {text: Invoice 4711}}``

    Args:
        guest: the desktop.
        text: what must be part of it; never empty.

    Raises:
        ValueError: `text` is empty, or the clipboard could not be asked.
    """
    if not text:
        raise ValueError("every text contains the empty one; give another")
    return text in _read(guest)


def _read(guest: Guest) -> str:
    code, out, err = guest.run_as_user(XCLIP, _TIMEOUT_S)
    said = err.decode("utf-8", "replace")
    if code == 0:
        return out.decode("utf-8", "replace")
    if "not available" in said:
        return ""
    raise ValueError(f"xclip could not read the clipboard: {said.strip()}")
