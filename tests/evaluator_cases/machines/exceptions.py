"""Cases that cannot run on a machine because it differs from the fixture, with the reasons."""

from __future__ import annotations

_PROGRAM = "a machine has the program"
_SESSION = "a machine has a graphical session"
_SCREEN = "a machine has a screen"
_PACKAGE = "a machine has packages, including GIMP"

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
"""Modules without cases for machines: their states come from servers, tables and programs of the fixture."""

DIFFERENT_HERE = {
    ("dconf_equals", "dconf missing"): _PROGRAM,
    ("wallpaper_is", "gsettings missing"): _PROGRAM,
    ("default_app_is", "gio missing"): _PROGRAM,
    ("clipboard_equals", "xclip missing"): _PROGRAM,
    ("clipboard_contains", "xclip missing"): _PROGRAM,
    ("package_installed", "dpkg missing"): _PACKAGE,
    ("package_installed", "program without its package"): _PACKAGE,
    ("package_absent", "dpkg missing"): _PACKAGE,
    ("timezone_is", "no time zone"): "a machine has a time zone",
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
        "custom collation with a quote in its name",
    ): "Python before 3.11 does not support such a name",
}
"""How a machine differs, by evaluator and case."""
