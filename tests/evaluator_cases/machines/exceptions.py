"""Cases that a machine cannot play, because it differs from the fixture, and how."""

from __future__ import annotations

_PROGRAM = "a machine has the program"
_SESSION = "a machine has a graphical session"
_SCREEN = "a machine has a screen"
_PACKAGE = "a machine has packages, and GIMP among them"

UNPLAYED = frozenset(
    {
        "desktop.windows",
        "desktop.clipboard",
        "desktop.web",
        "desktop.dav",
        "desktop.mail",
        "desktop.programs",
    }
)
"""Modules of which no case can be played: their states come from servers, tables and programs of the fixture."""

DIFFERENT_HERE = {
    ("dconf_equals", "no dconf"): _PROGRAM,
    ("wallpaper_is", "no gsettings"): _PROGRAM,
    ("default_app_is", "no gio"): _PROGRAM,
    ("clipboard_equals", "no xclip"): _PROGRAM,
    ("clipboard_contains", "no xclip"): _PROGRAM,
    ("package_installed", "no dpkg"): _PACKAGE,
    ("package_installed", "its program only"): _PACKAGE,
    ("package_absent", "no dpkg"): _PACKAGE,
    ("timezone_is", "none"): "a machine has a time zone",
    ("window_in_front", "no session"): _SESSION,
    ("window_open", "no session"): _SESSION,
    ("window_closed", "no session"): _SESSION,
    ("window_title_equals", "no session"): _SESSION,
    ("window_count", "no session"): _SESSION,
    ("window_at", "no session"): _SESSION,
    ("screen_size_equals", "no screen"): _SCREEN,
    ("screen_has_text", "no screen"): _SCREEN,
    ("screen_has_template", "no screen"): _SCREEN,
    ("screen_shows_picture", "no screen"): _SCREEN,
    ("screen_region_still", "no screen"): _SCREEN,
    ("screen_region_coloured", "no screen"): _SCREEN,
    (
        "sqlite_query_equals",
        "sorted by a program whose collation has a quote in its name",
    ): "Python before 3.11 takes no such name",
}
"""How a machine differs, by evaluator and case."""
