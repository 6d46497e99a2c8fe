"""Firefox's default profile, its settings file, and the process that uses it.

Source: Mozilla's ``profiles.ini``; ``modules/libpref/parser/src/lib.rs`` for the grammar of
``prefs.js``; ``toolkit/profile/nsProfileLock.cpp``: a running Firefox holds a POSIX lock on
``.parentlock`` in its profile.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.desktop.ini import parse_ini
from evaluators.desktop.reading import opened, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.probe.guest import Guest

_ROOTS = ("~/.mozilla/firefox", "~/.config/mozilla/firefox")
_PROGRAMS = tuple(
    f"{folder}/{name}"
    for folder in ("/usr/lib/firefox", "/usr/lib/firefox-esr", "/usr/lib64/firefox", "/opt/firefox")
    for name in ("firefox", "firefox-bin", "firefox-esr")
)
_FLOCK = "hhqqi4x"
"""``struct flock`` of 64-bit Linux: type, whence, start, length, process id."""

_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<word>[A-Za-z_]+|[-+]?\d+)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|([\"'\\nr])|(.?))", re.DOTALL)
_LETTERS = {"n": "\n", "r": "\r"}
_WORDS = {"true": True, "false": False}
_STATEMENT_TOKENS = 6
_ENDS = frozenset(";")


def default_profile(guest: Guest) -> str | None:
    """Return the folder of the default profile: the installation's, else the marked or first one.

    Since version 147, Firefox keeps new profiles below ``~/.config``, unless the old folder exists.
    """
    lists = ((root, read_text(guest, f"{root}/profiles.ini")) for root in _ROOTS)
    root, text = next((listing for listing in lists if listing[1] is not None), ("", None))
    parser = parse_ini(text)
    sections = [(name, parser[name]) for name in parser.sections()]
    installed = [
        section["Default"]
        for name, section in sections
        if name.startswith("Install") and "Default" in section
    ]
    profiles = [
        section for name, section in sections if name.startswith("Profile") and "Path" in section
    ]
    marked = [profile["Path"] for profile in profiles if profile.get("Default") == "1"]
    known = [profile["Path"] for profile in profiles]
    path = next(iter(installed or marked or known), None)
    if path is None or path not in known:
        return None
    return path if path.startswith("/") else f"{root}/{path}"


def is_used(guest: Guest, profile: str) -> bool:
    """Return whether the system's Firefox, started by the agent's user, runs with a profile.

    The kernel provides the process that holds the profile's lock, its executable file, and its
    user.
    """
    pid = _locker(guest, f"{profile}/.parentlock")
    if pid <= 0:
        return False
    try:
        status = os.stat(f"/proc/{pid}/exe")  # noqa: PTH116 - the file, not its path
        owner = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return False
    is_users = owner == Path(guest.home).stat().st_uid
    return is_users and any(os.path.samestat(status, known) for known in _installed(guest))


def parse_prefs(text: str) -> dict[str, str | int | bool]:
    """Return the settings in a ``prefs.js``, parsed like Firefox; malformed statements are ignored.

    Comments may occur anywhere, and a line may have several statements; the last one for a name
    counts.
    """
    settings: dict[str, str | int | bool] = {}
    statement: list[str] = []
    for token in _tokens(text):
        if token not in _ENDS:
            statement.append(token)
            continue
        name, value = _setting(statement)
        if value is not None:
            settings[name] = value
        statement = []
    return settings


def _locker(guest: Guest, path: str) -> int:
    """Return the process that locks a file for writing; 0 if there is none."""
    with opened(guest, path) as file:
        if file is None:
            return 0
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, asked))
    return int(pid) if kind == fcntl.F_WRLCK else 0


def _installed(guest: Guest) -> Iterator[os.stat_result]:
    for program in _PROGRAMS:
        try:
            yield Path(guest.path(program)).stat()
        except OSError:
            continue


def _tokens(text: str) -> Iterator[str]:
    return (match.group() for match in _TOKEN.finditer(text) if match.lastgroup != "blank")


def _setting(statement: list[str]) -> tuple[str, str | int | bool | None]:
    """Return name and value of ``user_pref("name", value)``; None as the value for anything else."""
    if len(statement) != _STATEMENT_TOKENS:
        return "", None
    verb, opening, name, comma, value, closing = statement
    key = _value(name)
    is_setting = (verb, opening, comma, closing) == ("user_pref", "(", ",", ")")
    return (key, _value(value)) if is_setting and isinstance(key, str) else ("", None)


def _value(token: str) -> str | int | bool | None:
    """Return the value of a token; None if it is not a value."""
    if token[0] in "\"'":
        return _text(token[1:-1]) if len(token) > 1 else None
    if token in _WORDS:
        return _WORDS[token]
    return int(token) if token.lstrip("+-").isdigit() else None


def _text(inner: str) -> str | None:
    """Return the text of a string literal; None for an unknown escape."""
    matches = list(_ESCAPE.finditer(inner))
    if any(not any(match.group(1, 2, 3)) for match in matches):
        return None
    plain = _ESCAPE.sub(
        lambda match: (
            chr(int(match[1] or match[2], 16))
            if match[1] or match[2]
            else _LETTERS.get(match[3], match[3])
        ),
        inner,
    )
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
