"""Evaluators of a phone's file system, as visible to its shell."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from evaluators.phone.view import PhoneView


@evaluator(on="phone")
def phone_file_exists(phone: PhoneView, path: str) -> bool:
    """Return whether a file exists at the given path of a phone.

    Proves the state, not who caused it.

    Args:
        phone: the phone.
        path: absolute path, such as ``/sdcard/Download/a.pdf``.

    Example:
        ``{on: phone, check: phone_file_exists, with: {path: /sdcard/Download/a.pdf}}``
    """
    status = phone.file_stat(path)
    return status is not None and not status.is_folder


@evaluator(on="phone")
def phone_path_absent(phone: PhoneView, path: str) -> bool:
    """Return whether nothing exists at the given path of a phone, in a folder that exists.

    A missing parent folder is unmet, because the path may be misspelled. A file that an application
    moved to its bin counts as absent. Proves the state, not who caused it.

    Args:
        phone: the phone.
        path: absolute path, such as ``/sdcard/Download/a.pdf``.

    Example:
        ``{on: phone, check: phone_path_absent, with: {path: /sdcard/Download/a.pdf}}``
    """
    folder = phone.file_stat(path.rpartition("/")[0] or "/")
    return folder is not None and folder.is_folder and phone.file_stat(path) is None


@evaluator(on="phone")
def phone_file_text_equals(phone: PhoneView, path: str, text: str) -> bool:
    """Return whether a file of a phone contains exactly the given text, in UTF-8.

    A single newline at the end and a byte order mark are ignored; CRLF counts as a newline. Proves
    the
    state, not who caused it.

    Args:
        phone: the phone.
        path: absolute path.
        text: the complete content.

    Example:
        ``{on: phone, check: phone_file_text_equals, with: {path: /sdcard/a.txt, text: Hello}}``
    """
    content = phone.file_text(path)
    return content is not None and _lines(content) == _lines(text)


@evaluator(on="phone")
def phone_folder_lists(phone: PhoneView, path: str, names: list[str]) -> bool:
    """Return whether a folder of a phone contains exactly the given entries.

    Entries whose names begin with a dot are ignored. A missing folder is unmet. Proves the
    state, not who caused it.

    Args:
        phone: the phone.
        path: absolute path.
        names: names of files and folders in it, in any order; an empty list for an empty folder.

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
    """Return a name in Unicode NFC, because programs store either form."""
    return unicodedata.normalize("NFC", name)
