"""Settings of a desktop: GSettings, dconf, wallpaper, default applications, autostart."""

from __future__ import annotations

import os
import re
import shlex
import stat
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from evaluators.decorators import evaluator
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
from evaluators.desktop.programs import runs_program
from evaluators.desktop.reading import is_file, look, names_in, opened, read_text, sha256_of
from evaluators.desktop.variants import is_no_text, is_same_variant

if TYPE_CHECKING:
    from evaluators.desktop.entries import Entry
    from provisioning.probe.guest import Guest

_LAYOUTS = ("wallpaper", "centered", "scaled", "stretched", "zoom", "spanned")
_BACKGROUND = "org.gnome.desktop.background"
_INTERFACE = "org.gnome.desktop.interface"
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
"""A service as plain as programs write it, which every reader understands alike."""
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
    """Return whether a setting of the user's session has exactly this value.

    Numbers and lists are compared as values: ``5`` is ``uint32 5``, ``["a"]`` is ``['a']``. An
    unknown schema or key makes the result inconclusive. Proves the state, not who made it.

    Example:
        ``{on: desktop, check: gsetting_equals, with: {schema: org.gnome.desktop.interface, key:
        color-scheme, value: prefer-dark}}``

    Args:
        guest: the desktop.
        schema: such as ``org.gnome.desktop.interface``.
        key: such as ``color-scheme``.
        value: as ``gsettings get`` prints it, texts without their quotes.
    """
    current = _setting(guest, schema, key)
    return current == value or (is_no_text(current) and is_same_variant(current, value))


@evaluator(on="desktop")
def dconf_equals(guest: Guest, key: str, value: str) -> bool:
    """Return whether a key of the user's dconf database has exactly this value.

    A key that is not set is unmet, even if its default is the value: dconf has no defaults. Texts may
    be quoted in either way, and the name of a type may be left out. Proves the state, not who made
    it.

    Example:
        ``{on: desktop, check: dconf_equals, with: {key: /org/gnome/terminal/legacy/theme-variant,
        value: "'dark'"}}``

    Args:
        guest: the desktop.
        key: its path, such as ``/org/gnome/desktop/interface/clock-format``.
        value: as ``dconf read`` prints it, texts with their quotes.

    Raises:
        ValueError: dconf could not read the key, for example because it is not a path.
    """
    code, out, err = output_of(guest, [_DCONF, "read", key])
    if code != 0:
        raise ValueError(f"dconf could not read {key}: {err.strip()}")
    return bool(value.strip()) and is_same_variant(out, value)


@evaluator(on="desktop")
def wallpaper_is(guest: Guest, path: str) -> bool:
    """Return whether the desktop's background shows this picture file.

    The setting of the current style (light or dark) is compared, the file must exist, begin as a picture
    does and be readable for the user, and the background must show pictures. Whether the rest of the file
    can be drawn, and the setting ``picture-opacity``, are not looked at. The copy that the wallpaper portal or the Settings application
    makes of the picture counts as the picture. Where ``picture-options`` is ``none``, as on the
    shipped desktops, no picture is shown until that is changed, too. Proves the state, not who made it.

    Source: GNOME's schema ``org.gnome.desktop.background``; xdg-desktop-portal-gtk's
    ``wallpaper.c``.

    Example:
        ``{on: desktop, check: wallpaper_is, with: {path: ~/Pictures/lake.png}}``

    Args:
        guest: the desktop.
        path: of the picture.
    """
    is_dark = _setting(guest, _INTERFACE, "color-scheme") == "prefer-dark"
    uri = _setting(guest, _BACKGROUND, "picture-uri-dark" if is_dark else "picture-uri")
    if _setting(guest, _BACKGROUND, "picture-options") == "none":
        return False
    if not uri.startswith("file:///"):
        return False
    shown = guest.path(unquote(uri[len("file://") :]))
    if not _is_picture(guest, shown):
        return False
    if shown == guest.path(path):
        return True
    is_copy = shown == guest.path(_PORTAL_COPY) or (
        shown.rpartition("/")[0] == guest.path(_SETTINGS_COPIES)
    )
    digest = sha256_of(guest, path) if is_copy else None
    return digest is not None and sha256_of(guest, shown) == digest


@evaluator(on="desktop")
def wallpaper_laid_out(guest: Guest, path: str, options: str) -> bool:
    """Return whether the desktop's background shows this picture file, laid out in this way.

    The picture counts as for `wallpaper_is`. The shipped desktops begin with ``none``, which shows no
    picture. Proves the state, not who made it.

    Example:
        ``{on: desktop, check: wallpaper_laid_out, with: {path: ~/Pictures/lake.png, options: scaled}}``

    Args:
        guest: the desktop.
        path: of the picture.
        options: wallpaper, centered, scaled, stretched, zoom or spanned.
    """
    if options not in _LAYOUTS:
        raise ValueError(f"options must be one of {', '.join(_LAYOUTS)}, got {options!r}")
    return _setting(guest, _BACKGROUND, "picture-options") == options and wallpaper_is(guest, path)


@evaluator(on="desktop")
def default_app_is(guest: Guest, mime: str, app: str) -> bool:
    """Return whether files of a type, or links with a scheme, open with this application.

    A desktop file of the user's own that takes the place of the system's must start the same program, and
    with the files to open; a D-Bus service of the user's that takes, or may take, the place of the
    application is unmet, and so is another program that has the application's name on the session's bus. What other options of the command do is not looked at. Proves the state, not who made it.

    Example:
        ``{on: desktop, check: default_app_is, with: {mime: text/plain, app: org.gnome.gedit.desktop}}``

    Args:
        guest: the desktop.
        mime: such as ``text/plain`` or ``x-scheme-handler/https``.
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
    """Return whether a program is started when the user logs in.

    Reads ``~/.config/autostart``, links to the system's desktop files included. An entry is ignored
    when it is hidden or disabled, for other desktops only, its ``TryExec`` or its ``Path`` is missing, its
    condition does not hold, or it waits for more than an hour. A shell that waits (``sh -c "sleep 5; exec
    PROGRAM"``) starts the program, and so does ``env`` with variables of language and looks alone. What the
    program does with its options is not looked at, but for ``--version`` and ``--help``. Proves the state, not
    who made it.

    Source: freedesktop.org's Desktop Application Autostart Specification 0.5.

    Example:
        ``{on: desktop, check: autostart_runs, with: {program: /usr/bin/gnome-calculator}}``

    Args:
        guest: the desktop.
        program: absolute path of the program; or its name, as the entry's ``Exec`` has it.
    """
    folder = "~/.config/autostart"
    names = [name for name in names_in(guest, folder) or [] if name.endswith(".desktop")]
    entries = [read_entry(guest, f"{folder}/{name}") for name in names]
    return any(
        entry is not None
        and is_same_program(guest, entry.program, program)
        and _is_enabled(guest, entry)
        and _is_activated(guest, name, entry)
        for name, entry in zip(names, entries, strict=True)
    )


def _setting(guest: Guest, schema: str, key: str) -> str:
    """Read a setting.

    Raises:
        ValueError: there is no such schema or key.
        GuestError: it cannot be read.
    """
    try:
        return guest.gsettings_get(schema, key)
    except Exception as exc:  # GuestError, which is at hand in guests only
        if "No such" in str(exc):
            raise ValueError(str(exc)) from exc
        raise


def _is_activated(guest: Guest, name: str, entry: Entry) -> bool:
    """Return whether an entry that is started by the bus is one of the system's applications."""
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
    """Return whether an entry's condition holds; one that is not known does not."""
    kind, _, rest = condition.partition(" ")
    if kind in {"if-exists", "unless-exists"} and rest:
        path = os.path.join(guest.path("~/.config"), rest.strip())  # noqa: PTH118
        return (look(guest, path) is not None) == (kind == "if-exists")
    if kind.upper() == "GSETTINGS":
        names = rest.split()
        try:
            return len(names) == 2 and _setting(guest, names[0], names[1]) == "true"  # noqa: PLR2004
        except Exception:  # noqa: BLE001 - ValueError, and GuestError, which is at hand in guests only
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
    """Return whether no entry or service of the user's replaces the system's by another program."""
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
    """Return whether a D-Bus service of the user's has, or may have, the name of an application.

    The bus follows links and reads what is not read here: such a folder or file may be any service.
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
    """Return whether another program has an application's name on the bus: it is given the files to open.

    The system's own D-Bus service of that name is the application, too.
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
    """Return the name of a D-Bus service; empty when its file is not a plain one."""
    service = _SERVICE.fullmatch(read_text(guest, path) or "")
    return service["name"] if service else ""


def _is_picture(guest: Guest, path: str) -> bool:
    """Return whether there is a file that the user may read, and that begins as a picture."""
    if not is_file(guest, path) or not _is_readable(guest, path):
        return False
    with opened(guest, path) as file:
        return file is not None and _PICTURES.match(file.read(_HEAD_BYTES)) is not None


def _is_readable(guest: Guest, path: str) -> bool:
    """Return whether the permissions of a file, and of the folders that it is in, let the user read it.

    Of groups only that of the user's home folder counts as the user's.
    """
    own = Path(guest.home).stat()

    def lets(status: os.stat_result, bit: int) -> bool:
        is_owner, is_group = status.st_uid == own.st_uid, status.st_gid == own.st_gid
        return status.st_mode & (bit << 6 if is_owner else bit << 3 if is_group else bit) != 0

    return lets(Path(path).stat(), stat.S_IROTH) and all(
        lets(parent.stat(), stat.S_IXOTH) for parent in Path(path).parents
    )
