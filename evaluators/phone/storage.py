"""Evaluators of a phone's file system, as visible to its shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.visible import look_of
from foundation.errors import EvaluationError

if TYPE_CHECKING:
    from evaluators.phone.view import PhoneView


@evaluator(on="phone")
def phone_file_exists(phone: PhoneView, path: MachinePath) -> bool:
    """Return whether a file exists at the given path of a phone.

    Another name that looks the same, and differs only in invisible characters, is unmet. Proves the state, not who caused it.

    Args:
        phone: the phone.
        path: absolute path, such as ``/sdcard/Download/a.pdf``.

    Example:
        ``{on: phone, check: phone_file_exists, with: {path: /sdcard/Download/a.pdf}}``
    """
    status = phone.file_stat(path)
    return status is not None and not status.is_folder and not _has_lookalike(phone, path)


@evaluator(on="phone")
def phone_path_absent(phone: PhoneView, path: MachinePath) -> bool:
    """Return whether nothing exists at the given path of a phone, in a folder that exists.

    A missing parent folder is unmet, because the path may be misspelled. A file that an application
    moved to its bin counts as absent. Another name that looks the same, and differs only in
    invisible characters, is unmet. Proves the state, not who caused it.

    Args:
        phone: the phone.
        path: absolute path, such as ``/sdcard/Download/a.pdf``.

    Example:
        ``{on: phone, check: phone_path_absent, with: {path: /sdcard/Download/a.pdf}}``
    """
    folder = phone.file_stat(path.rpartition("/")[0] or "/")
    return (
        folder is not None
        and folder.is_folder
        and phone.file_stat(path) is None
        and not _has_lookalike(phone, path)
    )


@evaluator(on="phone")
def phone_file_text_equals(phone: PhoneView, path: MachinePath, text: str) -> bool:
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
def phone_folder_lists(phone: PhoneView, path: MachinePath, names: list[str]) -> bool:
    """Return whether a folder of a phone contains exactly the given entries.

    Entries whose names begin with a dot are ignored, as are invisible characters in names. A
    missing folder is unmet, as is one with two names that look alike. Proves the state, not who
    caused it.

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
    shown = [look_of(name) for name in seen if not name.startswith(".")]
    return len(set(shown)) == len(shown) and sorted(shown) == sorted(map(look_of, names))


def _lines(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")


def _has_lookalike(phone: PhoneView, path: str) -> bool:
    """Return whether another name in the folder of a path differs only in invisible characters."""
    folder, _, own = path.rstrip("/").rpartition("/")
    try:
        names = phone.folder(folder or "/") or []
    except EvaluationError:  # a folder that the shell may enter, but not list
        return False
    return any(name != own and look_of(name) == look_of(own) for name in names)
