"""What stands in a phone's file system, as its shell sees it."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from evaluators.phone.view import PhoneView


@evaluator(on="phone")
def phone_file_exists(phone: PhoneView, path: str) -> bool:
    """Return whether there is a file, not a folder, at this path of a phone; it may be empty.

    Proves the state, not who made it.

    Args:
        phone: the phone.
        path: absolute, such as ``/sdcard/Download/a.pdf``.

    Example:
        ``{on: phone, check: phone_file_exists, with: {path: /sdcard/Download/a.pdf}}``
    """
    status = phone.file_stat(path)
    return status is not None and not status.is_folder


@evaluator(on="phone")
def phone_path_absent(phone: PhoneView, path: str) -> bool:
    """Return whether there is nothing at this path of a phone, in a folder that exists.

    A missing parent folder is unmet: the path may be misspelt. A file that an application moved to
    its bin is absent. Proves the state, not who made it.

    Args:
        phone: the phone.
        path: absolute, such as ``/sdcard/Download/a.pdf``.

    Example:
        ``{on: phone, check: phone_path_absent, with: {path: /sdcard/Download/a.pdf}}``
    """
    folder = phone.file_stat(path.rpartition("/")[0] or "/")
    return folder is not None and folder.is_folder and phone.file_stat(path) is None


@evaluator(on="phone")
def phone_file_text_equals(phone: PhoneView, path: str, text: str) -> bool:
    """Return whether a file of a phone holds exactly this text, in UTF-8.

    One newline at the end and a byte order mark are ignored; CRLF counts as a newline. Proves the
    state, not who made it.

    Args:
        phone: the phone.
        path: absolute.
        text: the whole content.

    Example:
        ``{on: phone, check: phone_file_text_equals, with: {path: /sdcard/a.txt, text: Hello}}``
    """
    content = phone.file_text(path)
    return content is not None and _lines(content) == _lines(text)


@evaluator(on="phone")
def phone_folder_lists(phone: PhoneView, path: str, names: list[str]) -> bool:
    """Return whether a folder of a phone holds exactly these entries, no fewer and no more.

    Entries whose name begins with a dot are ignored. A folder that is missing is unmet. Proves the
    state, not who made it.

    Args:
        phone: the phone.
        path: absolute.
        names: of files and folders in it, in any order; none for an empty folder.

    Example:
        ``{on: phone, check: phone_folder_lists, with: {path: /sdcard/DCIM, names: [Camera]}}``
    """
    seen = phone.folder(path)
    if seen is None:
        return False
    shown = [_composed(name) for name in seen if not name.startswith(".")]
    return sorted(shown) == sorted(map(_composed, names))


def _lines(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")


def _composed(name: str) -> str:
    """Return a name with letters and accents in one, as programs store either."""
    return unicodedata.normalize("NFC", name)
