"""Whether the next login reads the configuration of the user from ``~/.config``.

Files that the display manager's session script, systemd, and PAM read at a login can set
``XDG_CONFIG_HOME``, or run code that does. Only files whose effect is certain are accepted: lines
of the system's default files, and assignments of constants and variables.

Source: Debian's and Ubuntu's ``/etc/X11/Xsession.d``, lightdm-session, environment.d(5),
systemd-system.conf(5), pam_env(8).
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from evaluators.desktop.reading import is_absent, look, names_in, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.probe.guest import Guest

_SCRIPTS = ("~/.profile", "~/.xprofile", "~/.xsessionrc", "~/.gnomerc", "~/.xinputrc")
"""Scripts that the session script runs with ``/bin/sh`` before it starts the session."""
_DEFAULTS = "/etc/skel"
_ENVIRONMENT = "~/.config/environment.d"
_PAM = "~/.pam_environment"
_MANAGER = ("~/.config/systemd/user.conf", "~/.config/systemd/user.conf.d")
_UNITS = ("~/.config/systemd/user", "~/.config/systemd/user.control", "~/.local/share/systemd/user")
_SESSION_UNIT = re.compile(r"(?:gnome-|graphical-session|service\.d)(?!.*\.(?:wants|requires)\Z)")
"""Units, and settings of units, that concern the session; wanting one changes nothing of it."""
_PLACES = frozenset({"HOME", "XDG_CONFIG_HOME"})
_SWITCHES = frozenset({"BASH_VERSION", "ENV", "LD_LIBRARY_PATH", "LD_PRELOAD"})
"""Variables with which the system's scripts, or all programs, run code of the user."""
_CONSTANT = r"(?:[\w@%+=:,./~-]|\$\w+|\$\{\w+\})*"
_ASSIGNMENT = re.compile(
    rf"(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)="
    rf"(?P<value>{_CONSTANT}|\"(?:{_CONSTANT}|[ \t])*\"|'[^'\\]*')(?:[ \t]+#.*)?",
    re.ASCII,
)
_INPUT_METHOD = re.compile(r"run_im [a-z0-9]+")
_HOME = re.compile(r"\A(?:~(?=/)|\$HOME\b|\$\{HOME\})")


def keeps_configuration(guest: Guest) -> bool:
    """Return whether it is certain that the next login reads ``~/.config``."""
    return (
        all(_is_harmless(guest, path) for path in (*_SCRIPTS, *_environment_files(guest)))
        and _is_harmless_to_pam(guest)
        and all(is_absent(guest, path) for path in _MANAGER)
        and not any(
            _SESSION_UNIT.match(name) for folder in _UNITS for name in names_in(guest, folder) or ()
        )
    )


def _environment_files(guest: Guest) -> Iterator[str]:
    """Iterate over the files of environment.d; the folder itself if it is not a folder."""
    names = names_in(guest, _ENVIRONMENT)
    if names is None and look(guest, _ENVIRONMENT) is not None:
        yield _ENVIRONMENT
    yield from (f"{_ENVIRONMENT}/{name}" for name in names or () if name.endswith(".conf"))


def _is_harmless(guest: Guest, path: str) -> bool:
    """Return whether a script or list of variables is missing, or has only harmless lines."""
    if is_absent(guest, path):
        return True
    text = read_text(guest, path)
    default = read_text(guest, f"{_DEFAULTS}/{posixpath.basename(path)}") or ""
    known = {line.strip() for line in default.split("\n")}
    return text is not None and all(
        not line or line.startswith("#") or line in known or _is_harmless_line(guest, line)
        for line in map(str.strip, text.split("\n"))
    )


def _is_harmless_line(guest: Guest, line: str) -> bool:
    assignment = _ASSIGNMENT.fullmatch(line)
    if assignment is None:
        return _INPUT_METHOD.fullmatch(line) is not None
    value = assignment["value"].strip("\"'")
    place = guest.path(_HOME.sub(guest.home, value))
    if assignment["name"] == "XDG_CONFIG_HOME":
        return place == guest.path("~/.config")
    return assignment["name"] not in _PLACES | _SWITCHES


def _is_harmless_to_pam(guest: Guest) -> bool:
    """Return whether PAM's list of variables is missing, or names no variable of a place."""
    if is_absent(guest, _PAM):
        return True
    text = read_text(guest, _PAM)
    names = {re.split(r"[\s=]", line.strip())[0] for line in (text or "\\").split("\n")}
    return text is not None and "\\" not in text and not names & (_PLACES | _SWITCHES)
