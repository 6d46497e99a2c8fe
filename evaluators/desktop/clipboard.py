"""Evaluators of a desktop's clipboard."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NamedTuple

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

_OLDER = ("text/plain", "TEXT", "COMPOUND_TEXT")
"""Further text targets. Source: Inter-Client Communication Conventions Manual 2.0, 2.6.2."""

_SIMPLE = frozenset({"STRING", "text/plain"})
"""Targets in which letters that do not fit are replaced or left out."""


class _Clip(NamedTuple):
    """The text in the clipboard.

    Attributes:
        raw: as the owner provides it.
        form: target in which it was read.
        offered: all targets that the owner offers.
    """

    raw: bytes
    form: str
    offered: tuple[str, ...]

    @property
    def text(self) -> str:
        """The text, normalised for comparison."""
        return _plain(self.raw.decode(_FORMS[self.form], "replace"))


@evaluator(on="desktop")
def clipboard_equals(guest: Guest, text: str) -> bool:
    """Return whether the clipboard contains exactly the given text.

    White space at the ends is ignored, CRLF counts as a newline, and Unicode is compared in NFC. A
    clipboard without text, such as with a picture or copied files, is unmet, as is one whose owner
    does not provide its text, or offers different texts as different plain text formats. Proves the state, not who caused it.

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
    clip = _read(guest)
    return clip.text.strip() == _plain(text).strip() and _is_same_elsewhere(guest, clip)


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
    clip = _read(guest)
    return _plain(text) in clip.text and _is_same_elsewhere(guest, clip)


def _read(guest: Guest) -> _Clip:
    """Return the text, in a target that the owner offers; empty if it offers none.

    Raises:
        ObstructedError: the owner does not provide the text.
    """
    listed = _ask(guest, "TARGETS")
    offered = (listed or b"UTF8_STRING").decode("latin-1").split()
    form = next((form for form in _FORMS if form in offered), None)
    if form is None or _holds_files(guest, offered):
        return _Clip(b"", "STRING", ())
    others = offered if listed else (*_FORMS, *_OLDER)
    return _Clip(_ask(guest, form) or b"", form, tuple(others))


def _is_same_elsewhere(guest: Guest, clip: _Clip) -> bool:
    """Return whether the owner has the same plain text in each target that programs may paste."""
    return all(
        answer is None or answer == clip.raw or _is_same(form, answer, clip)
        for form in clip.offered
        if form != clip.form and form in {*_FORMS, *_OLDER}
        for answer in [_ask(guest, form)]
    )


def _is_same(form: str, answer: bytes, clip: _Clip) -> bool:
    """Return whether a text is the same, or what is left of it in a character set with fewer letters."""
    text = clip.text.strip()
    encodings = ("utf-8",) if _FORMS.get(form) == "utf-8" else ("utf-8", "latin-1")
    found = {
        _plain(answer.decode(encoding, "replace").rstrip("\0")).strip() for encoding in encodings
    }
    if text in found or len(encodings) == 1 or text.isascii():
        return text in found
    return form not in _SIMPLE or any(
        text.encode(smaller, errors).decode(smaller).strip() in found
        for smaller in ("latin-1", "ascii")
        for errors in ("replace", "backslashreplace", "ignore")
    )


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
