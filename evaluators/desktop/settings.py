"""Settings of a desktop: GSettings, dconf, wallpaper, default applications, autostart."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING
from urllib.parse import unquote

from evaluators.decorators import evaluator
from evaluators.desktop.ini import parse_ini
from evaluators.desktop.reading import is_file, names_in, read_text

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

_BACKGROUND = "org.gnome.desktop.background"
_INTERFACE = "org.gnome.desktop.interface"
_DCONF = "/usr/bin/dconf"
_GIO = "/usr/bin/gio"
_DEFAULT_APP = re.compile(r"\ADefault application for \S+: (\S+\.desktop)$", re.MULTILINE)
_ENTRY = "Desktop Entry"


@evaluator(on="desktop")
def gsetting_equals(guest: Guest, schema: str, key: str, value: str) -> bool:
    """Return whether a setting of the user's session has exactly this value.

    An unknown schema or key makes the result inconclusive.

    Example:
        ``{on: desktop, check: gsetting_equals, with: {schema: org.gnome.desktop.interface, key:
        color-scheme, value: prefer-dark}}``

    Args:
        guest: the desktop.
        schema: such as ``org.gnome.desktop.interface``.
        key: such as ``color-scheme``.
        value: as ``gsettings get`` prints it, texts without their quotes.
    """
    return guest.gsettings_get(schema, key) == value


@evaluator(on="desktop")
def dconf_equals(guest: Guest, key: str, value: str) -> bool:
    """Return whether a key of the user's dconf database has exactly this value.

    A key that is not set is unmet, even if its default is the value: dconf has no defaults.

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
    code, out, err = guest.run_as_user([_DCONF, "read", key])
    if code != 0:
        raise ValueError(f"dconf could not read {key}: {err.decode('utf-8', 'replace').strip()}")
    return bool(value) and out.decode("utf-8", "replace").strip() == value


@evaluator(on="desktop")
def wallpaper_is(guest: Guest, path: str) -> bool:
    """Return whether the desktop's background shows this picture file.

    The setting of the current style (light or dark) is compared, the file must exist, and the
    background must show pictures.

    Source: GNOME's schema ``org.gnome.desktop.background``.

    Example:
        ``{on: desktop, check: wallpaper_is, with: {path: ~/Pictures/lake.png}}``

    Args:
        guest: the desktop.
        path: of the picture.
    """
    is_dark = guest.gsettings_get(_INTERFACE, "color-scheme") == "prefer-dark"
    uri = guest.gsettings_get(_BACKGROUND, "picture-uri-dark" if is_dark else "picture-uri")
    if guest.gsettings_get(_BACKGROUND, "picture-options") == "none":
        return False
    if not uri.startswith("file:///"):
        return False
    return guest.path(unquote(uri[len("file://") :])) == guest.path(path) and is_file(guest, path)


@evaluator(on="desktop")
def default_app_is(guest: Guest, mime: str, app: str) -> bool:
    """Return whether files of a type, or links with a scheme, open with this application.

    Example:
        ``{on: desktop, check: default_app_is, with: {mime: text/plain, app: org.gnome.gedit.desktop}}``

    Args:
        guest: the desktop.
        mime: such as ``text/plain`` or ``x-scheme-handler/https``.
        app: name of the application's desktop file.

    Raises:
        ValueError: gio failed.
    """
    code, out, err = guest.run_as_user([_GIO, "mime", mime])
    if code != 0:
        raise ValueError(f"gio failed: {err.decode('utf-8', 'replace').strip()}")
    found = _DEFAULT_APP.search(out.decode("utf-8", "replace"))
    return found is not None and found[1] == app


@evaluator(on="desktop")
def autostart_runs(guest: Guest, program: str) -> bool:
    """Return whether a program is started when the user logs in.

    Reads ``~/.config/autostart``; an entry that is hidden or disabled is ignored.

    Source: freedesktop.org's Desktop Application Autostart Specification.

    Example:
        ``{on: desktop, check: autostart_runs, with: {program: /usr/bin/gnome-calculator}}``

    Args:
        guest: the desktop.
        program: the first word of the entry's ``Exec``, as written.
    """
    folder = "~/.config/autostart"
    names = names_in(guest, folder) or []
    return any(
        name.endswith(".desktop") and _runs(read_text(guest, f"{folder}/{name}"), program)
        for name in names
    )


def _runs(content: str | None, program: str) -> bool:
    parser = parse_ini(content)
    try:
        arguments = shlex.split(parser.get(_ENTRY, "Exec", fallback=""))
    except ValueError:
        return False
    is_on = (
        parser.get(_ENTRY, "Hidden", fallback=None) != "true"
        and parser.get(_ENTRY, "X-GNOME-Autostart-enabled", fallback=None) != "false"
        and parser.get(_ENTRY, "Type", fallback=None) == "Application"
    )
    return is_on and arguments[:1] == [program]
