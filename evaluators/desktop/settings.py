"""Evaluators of a desktop's settings: GSettings, dconf, wallpaper, default applications, autostart."""

from __future__ import annotations

import os
import re
import shlex
import stat
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.entries import (
    can_start,
    find_program,
    is_same_program,
    read_entry,
    system_entry,
    user_entries,
)
from evaluators.desktop.errors import output_of
from evaluators.desktop.ini import parse_ini
from evaluators.desktop.login import keeps_configuration
from evaluators.desktop.programs import runs_program
from evaluators.desktop.reading import is_file, look, names_in, opened, read_text, sha256_of
from evaluators.desktop.variants import is_no_text, is_same_variant

if TYPE_CHECKING:
    from evaluators.desktop.entries import Entry
    from provisioning.probe.guest import Guest

_LAYOUTS = ("wallpaper", "centered", "scaled", "stretched", "zoom", "spanned")
_BACKGROUND = "org.gnome.desktop.background"
_INTERFACE = "org.gnome.desktop.interface"
_DRAWS = (
    ("org.gnome.gnome-flashback", "desktop"),
    ("org.gnome.gnome-flashback.desktop", "draw-background"),
)
"""Settings with which GNOME Flashback draws no background; other desktops lack them."""
_DCONF = "/usr/bin/dconf"
_GIO = "/usr/bin/gio"
_WHOSE_NAME = (
    "/usr/bin/gdbus",
    "call",
    "--session",
    "--dest=org.freedesktop.DBus",
    "--object-path=/org/freedesktop/DBus",
    "--method=org.freedesktop.DBus.GetConnectionUnixProcessID",
)
_PID = re.compile(r"\(uint32 (\d{1,9}),\)\s*")
_BUS_NAME = re.compile(r"[A-Za-z_-][A-Za-z0-9_-]*(?:\.[A-Za-z_-][A-Za-z0-9_-]*)+")
_DEFAULT_APP = re.compile(r"\ADefault application for \S+: (\S+\.desktop)$", re.MULTILINE)
_PORTAL_COPY = "~/.config/background"
_SETTINGS_COPIES = "~/.local/share/backgrounds"
_PRINTENV = "/usr/bin/printenv"
_SYSTEM_SERVICES = "/usr/share/dbus-1/services"
_SERVICE_SECTION = "D-BUS Service"
_SERVICE_FOLDERS = ("~/.local/share/dbus-1/services", "/run/user/{uid}/dbus-1/services")
_SERVICE = re.compile(
    r"\[D-BUS Service\]\n(?:(?!Name=)[A-Za-z]+=[ -~]*\n)*"
    r"Name=(?P<name>[A-Za-z0-9._-]+)\n(?:(?!Name=)[A-Za-z]+=[ -~]*\n)*"
)
"""A D-Bus service file in the simple form that all parsers read alike."""
_MAX_DELAY_S = 3600
_PICTURES = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|BM|II\*\0|MM\0\*|RIFF....WEBP|....ftyp(?:avi|hei|mif)"
    rb"|\xff\x0a|\0\0\0\x0cJXL |\s*(?:\xef\xbb\xbf)?\s*<(?:\?xml|!DOCTYPE|!--|svg|background)",
    re.DOTALL,
)
_HEAD_BYTES = 64
_SKIPPED = ("Hidden", "X-GNOME-HiddenUnderSystemd", "X-systemd-skip")


@evaluator(on="desktop")
def gsetting_equals(guest: Guest, schema: str, key: str, value: str) -> bool:
    """Return whether a setting of the user's session has the given value.

    Numbers and lists are compared as values: ``5`` equals ``uint32 5``, ``["a"]`` equals ``['a']``.
    If the schema or key is unknown, the result is inconclusive. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: gsetting_equals, with: {schema: org.gnome.desktop.interface, key:
        color-scheme, value: prefer-dark}}``

    Args:
        guest: the desktop.
        schema: schema, such as ``org.gnome.desktop.interface``.
        key: key, such as ``color-scheme``.
        value: value as printed by ``gsettings get``, texts without quotes.
    """
    current = _setting(guest, schema, key)
    return current == value or (is_no_text(current) and is_same_variant(current, value))


@evaluator(on="desktop")
def dconf_equals(guest: Guest, key: str, value: str) -> bool:
    """Return whether a key of the user's dconf database has the given value.

    A key that is not set is unmet, even if its default equals the value, because dconf has no
    defaults. Texts may be in single or double quotes, and the name of a type may be omitted. Proves
    the state, not who made
    it.

    Example:
        ``{on: desktop, check: dconf_equals, with: {key: /org/gnome/terminal/legacy/theme-variant,
        value: "'dark'"}}``

    Args:
        guest: the desktop.
        key: dconf path of the key, such as ``/org/gnome/desktop/interface/clock-format``.
        value: value as printed by ``dconf read``, texts with quotes.

    Raises:
        ValueError: dconf could not read the key, for example because it is not a path.
    """
    code, out, err = output_of(guest, [_DCONF, "read", key])
    if code != 0:
        raise ValueError(f"dconf could not read {key}: {err.strip()}")
    return bool(value.strip()) and is_same_variant(out, value)


@evaluator(on="desktop")
def wallpaper_is(guest: Guest, path: MachinePath) -> bool:
    """Return whether the desktop's background shows the given picture file.

    The setting of the current style (light or dark) is compared; the file must exist, begin like a
    picture and be readable by the user, and the desktop must draw a background with pictures (on
    GNOME Flashback, ``draw-background`` must be on). The rest of the file
    and the setting ``picture-opacity`` are not checked. A copy of the picture made by the wallpaper
    portal or the Settings application also counts. If ``picture-options`` is ``none``, as on the
    supplied desktops, no picture is shown until that is also changed. Proves the state, not who
    caused it.

    Source: GNOME's schema ``org.gnome.desktop.background``; xdg-desktop-portal-gtk's
    ``wallpaper.c``.

    Example:
        ``{on: desktop, check: wallpaper_is, with: {path: ~/Pictures/lake.png}}``

    Args:
        guest: the desktop.
        path: path of the picture.
    """
    is_dark = _setting(guest, _INTERFACE, "color-scheme") == "prefer-dark"
    uri = _setting(guest, _BACKGROUND, "picture-uri-dark" if is_dark else "picture-uri")
    if _setting(guest, _BACKGROUND, "picture-options") == "none":
        return False
    if not uri.startswith("file:///"):
        return False
    shown = guest.path(unquote(uri[len("file://") :]))
    return (
        _is_picture(guest, shown)
        and _is_or_copies(guest, shown, path)
        and _is_background_drawn(guest)
    )


@evaluator(on="desktop")
def wallpaper_laid_out(guest: Guest, path: MachinePath, options: str) -> bool:
    """Return whether the desktop's background shows the given picture file with the given layout.

    The picture is checked as in `wallpaper_is`. The supplied desktops start with ``none``, which
    shows no picture. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: wallpaper_laid_out, with: {path: ~/Pictures/lake.png, options: scaled}}``

    Args:
        guest: the desktop.
        path: path of the picture.
        options: layout: wallpaper, centered, scaled, stretched, zoom or spanned.
    """
    if options not in _LAYOUTS:
        raise ValueError(f"options must be one of {', '.join(_LAYOUTS)}, got {options!r}")
    return _setting(guest, _BACKGROUND, "picture-options") == options and wallpaper_is(guest, path)


@evaluator(on="desktop")
def default_app_is(guest: Guest, mime: str, app: str) -> bool:
    """Return whether files of a type, or links with a scheme, open with the given application.

    A user's desktop file that overrides the system's must start the same program, with the files to
    open. A user's D-Bus service that overrides, or may override, the application is unmet, as is
    another program that owns the application's name on the session bus. Other options of the
    command are not checked. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: default_app_is, with: {mime: text/plain, app: org.gnome.gedit.desktop}}``

    Args:
        guest: the desktop.
        mime: MIME type, such as ``text/plain`` or ``x-scheme-handler/https``.
        app: name of the application's desktop file.

    Raises:
        ValueError: gio failed.
    """
    code, out, err = output_of(guest, [_GIO, "mime", mime])
    if code != 0:
        raise ValueError(f"gio failed: {err.strip()}")
    match = _DEFAULT_APP.search(out)
    return match is not None and match[1] == app and _starts_system_program(guest, app)


@evaluator(on="desktop")
def autostart_runs(guest: Guest, program: str) -> bool:
    """Return whether the given program starts when the user logs in.

    The entries are those in ``~/.config/autostart``, including links to the system's desktop files.
    An entry is ignored if it is hidden, disabled or only for other desktops, if its ``TryExec`` or
    ``Path`` does not exist, if its condition does not hold, or if it waits for more than an hour. A
    shell that waits (``sh -c "sleep 5; exec PROGRAM"``) counts as starting the program, as does
    ``env`` with only variables for language and appearance, and ``gtk-launch ID`` or ``gio launch
    FILE`` with a desktop file that starts the program. Options of the program are not checked,
    except ``--version`` and ``--help``. The check is unmet if a file that is read at login
    (``~/.profile``, ``~/.xsessionrc``, ``~/.config/environment.d``, …) moves the user's
    configuration elsewhere, or runs code that may do so. Proves the state, not who caused it.

    Source: freedesktop.org's Desktop Application Autostart Specification 0.5.

    Example:
        ``{on: desktop, check: autostart_runs, with: {program: /usr/bin/gnome-calculator}}``

    Args:
        guest: the desktop.
        program: absolute path of the program; or its name, as in the entry's ``Exec``.
    """
    folder = "~/.config/autostart"
    names = [name for name in names_in(guest, folder) or [] if name.endswith(".desktop")]
    entries = [read_entry(guest, f"{folder}/{name}") for name in names]
    return keeps_configuration(guest) and any(
        entry is not None
        and is_same_program(guest, _started_program(guest, entry), program)
        and _is_enabled(guest, entry)
        and _is_activated(guest, name, entry)
        for name, entry in zip(names, entries, strict=True)
    )


def _setting(guest: Guest, schema: str, key: str) -> str:
    """Read a setting.

    Raises:
        ValueError: the schema or key does not exist.
        GuestError: the setting cannot be read.
    """
    try:
        return guest.gsettings_get(schema, key)
    except Exception as exc:  # GuestError, which is available only in guests
        if "No such" in str(exc):
            raise ValueError(str(exc)) from exc
        raise


def _started_program(guest: Guest, entry: Entry) -> str:
    """Return the program that an entry starts, also through a launcher; empty if it would not start."""
    launched = entry.launched
    if not launched:
        return entry.program
    if launched.startswith("-") or not find_program(guest, entry.program):
        return ""
    if "/" in launched:
        app, entries = launched.rpartition("/")[2], [read_entry(guest, launched)]
    else:
        app = f"{launched.removesuffix('.desktop')}.desktop"
        entries = user_entries(guest, app) or [system_entry(guest, app)]
    is_whole = all(
        target is not None
        and not target.launched
        and not target.is_true("Hidden")
        and can_start(guest, target)
        and _is_activated(guest, app, target)
        for target in entries
    )
    programs = {target.program for target in entries if target is not None}
    return programs.pop() if is_whole and len(programs) == 1 else ""


def _is_or_copies(guest: Guest, shown: str, path: str) -> bool:
    """Return whether the picture shown is the given one, or a copy by the portal or the Settings application."""
    if shown == guest.path(path):
        return True
    is_copy = shown == guest.path(_PORTAL_COPY) or (
        shown.rpartition("/")[0] == guest.path(_SETTINGS_COPIES)
    )
    digest = sha256_of(guest, path) if is_copy else None
    return digest is not None and sha256_of(guest, shown) == digest


def _is_background_drawn(guest: Guest) -> bool:
    for schema, key in _DRAWS:
        try:
            if _setting(guest, schema, key) != "true":
                return False
        except ValueError:  # the desktop is another one
            continue
    return True


def _is_activated(guest: Guest, name: str, entry: Entry) -> bool:
    """Return whether an entry that the bus starts is one of the system's applications."""
    if not entry.is_true("DBusActivatable"):
        return True
    own = system_entry(guest, name)
    return own is not None and is_same_program(guest, own.program, entry.program)


def _is_enabled(guest: Guest, entry: Entry) -> bool:
    if any(entry.is_true(key) for key in _SKIPPED):
        return False
    if not entry.is_true("X-GNOME-Autostart-enabled", default=True):
        return False
    delay = entry.text("X-GNOME-Autostart-Delay") or "0"
    is_soon = delay.isascii() and delay.isdigit() and int(delay[:9]) <= _MAX_DELAY_S
    return (
        is_soon
        and can_start(guest, entry)
        and _is_condition_met(guest, entry.text("AutostartCondition"))
        and _is_for_desktop(guest, entry)
    )


def _is_condition_met(guest: Guest, condition: str) -> bool:
    """Return whether an entry's condition holds; False if it is unknown."""
    kind, _, rest = condition.partition(" ")
    if kind in {"if-exists", "unless-exists"} and rest:
        path = os.path.join(guest.path("~/.config"), rest.strip())  # noqa: PTH118
        return (look(guest, path) is not None) == (kind == "if-exists")
    if kind.upper() == "GSETTINGS":
        names = rest.split()
        try:
            return len(names) == 2 and _setting(guest, names[0], names[1]) == "true"  # noqa: PLR2004
        except Exception:  # noqa: BLE001 - ValueError, and GuestError, which exists only in guests
            return False
    return not condition


def _is_for_desktop(guest: Guest, entry: Entry) -> bool:
    only, never = entry.items("OnlyShowIn"), entry.items("NotShowIn")
    if not only and not never:
        return True
    _, out, _ = output_of(guest, [_PRINTENV, "XDG_CURRENT_DESKTOP"])
    current = set(out.strip().split(":"))
    return not current & never and (not only or bool(current & only))


def _starts_system_program(guest: Guest, app: str) -> bool:
    """Return whether no entry or service of the user replaces the system's with another program."""
    entry, own = system_entry(guest, app), user_entries(guest, app)
    if entry is None:
        return all(replacement is not None and can_start(guest, replacement) for replacement in own)
    is_others = _is_hijacked(guest, app) or _is_name_taken(guest, app, entry)
    return not is_others and all(
        replacement is not None
        and is_same_program(guest, replacement.program, entry.program)
        and can_start(guest, replacement)
        and replacement.takes_files >= entry.takes_files
        and replacement.is_true("DBusActivatable") <= entry.is_true("DBusActivatable")
        for replacement in own
    )


def _is_hijacked(guest: Guest, app: str) -> bool:
    """Return whether a D-Bus service of the user has, or may have, the name of an application.

    The bus follows links and reads files that are not read here: such a folder or file may be any
    service.
    """
    uid = Path(guest.home).stat().st_uid
    names = {"", app.removesuffix(".desktop")}
    for folder in (service_folder.format(uid=uid) for service_folder in _SERVICE_FOLDERS):
        files = names_in(guest, folder)
        if files is None and Path(guest.path(folder)).exists():
            return True
        if any(_service_name(guest, f"{folder}/{file}") in names for file in files or ()):
            return True
    return False


def _is_name_taken(guest: Guest, app: str, entry: Entry) -> bool:
    """Return whether another program owns an application's name on the bus, and therefore gets the files to open.

    The system's own D-Bus service of that name also counts as the application.
    """
    name = app.removesuffix(".desktop")
    if not _BUS_NAME.fullmatch(name):
        return False
    code, out, _ = output_of(guest, [*_WHOSE_NAME, name])
    owner = _PID.fullmatch(out) if code == 0 else None
    if owner is None:
        return False
    service = parse_ini(read_text(guest, f"{_SYSTEM_SERVICES}/{name}.service"))
    started = service.get(_SERVICE_SECTION, "Exec", fallback="")
    programs = {entry.program, *shlex.split(started)[:1]}
    return not any(
        runs_program(guest, int(owner[1]), find_program(guest, program)) for program in programs
    )


def _service_name(guest: Guest, path: str) -> str:
    """Return the name of a D-Bus service; empty if its file does not have the simple form."""
    service = _SERVICE.fullmatch(read_text(guest, path) or "")
    return service["name"] if service else ""


def _is_picture(guest: Guest, path: str) -> bool:
    """Return whether a file exists that the user may read and that begins like a picture."""
    if not is_file(guest, path) or not _is_readable(guest, path):
        return False
    with opened(guest, path) as file:
        return file is not None and _PICTURES.match(file.read(_HEAD_BYTES)) is not None


def _is_readable(guest: Guest, path: str) -> bool:
    """Return whether the permissions of a file and of its parent folders let the user read it.

    Only the group of the user's home folder counts as the user's group.
    """
    own = Path(guest.home).stat()

    def lets(status: os.stat_result, bit: int) -> bool:
        is_owner, is_group = status.st_uid == own.st_uid, status.st_gid == own.st_gid
        return status.st_mode & (bit << 6 if is_owner else bit << 3 if is_group else bit) != 0

    return lets(Path(path).stat(), stat.S_IROTH) and all(
        lets(parent.stat(), stat.S_IXOTH) for parent in Path(path).parents
    )
