"""Runs in a desktop guest, as the agent's user: checks which stock icons and fonts are missing.

It prints one JSON object; see `provisioning.review.appearance.Appearance`. It uses only the
standard library and PyGObject.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("GdkPixbuf", "2.0")
gi.require_version("PangoCairo", "1.0")
from gi.repository import GdkPixbuf, Gio, GLib, Gtk, Pango, PangoCairo  # noqa: E402

SIZES_PX = (16, 24, 48)
STOCK_ICONS = (
    "folder",
    "user-home",
    "user-trash",
    "text-x-generic",
    "image-x-generic",
    "x-office-document",
    "application-x-executable",
    "document-new",
    "document-open",
    "document-save",
    "edit-copy",
    "edit-paste",
    "edit-undo",
    "edit-find",
    "go-home",
    "go-previous",
    "dialog-error",
    "dialog-information",
    "dialog-warning",
    "preferences-system",
    "utilities-terminal",
    "avatar-default",
    "open-menu-symbolic",
    "pan-down-symbolic",
    "window-close-symbolic",
    "audio-volume-high-symbolic",
    "view-list-symbolic",
)


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0 0h8v8z"/></svg>'


def missing_icons() -> list[str]:
    """Return one line for each icon that the theme lacks or cannot load."""
    theme = Gtk.IconTheme.get_default()
    lines = svg_problem()
    lines += [line for name in STOCK_ICONS for line in icon_problem(theme, name)]
    shown = {}
    for app in Gio.AppInfo.get_all():
        if app.should_show() and app.get_icon() is not None:
            shown[app.get_id()] = app.get_icon()
    for app_id, icon in sorted(shown.items()):
        icon_info = theme.lookup_by_gicon(icon, 48, Gtk.IconLookupFlags(0))
        if icon_info is None:
            lines.append(f"{icon.to_string()} of {app_id}: not in the theme")
    return lines


def svg_problem() -> list[str]:
    """Return why scalable icons, which many themes use, cannot be shown."""
    try:
        loader = GdkPixbuf.PixbufLoader.new_with_mime_type("image/svg+xml")
        loader.write(SVG)
        loader.close()
    except GLib.Error as exc:
        return [f"scalable (SVG), check that librsvg2-common is installed: {exc.message}"]
    return []


def icon_problem(theme: Any, name: str) -> list[str]:  # noqa: ANN401 - gi is untyped
    """Return why an icon cannot be shown, at the first size that fails."""
    for size_px in SIZES_PX:
        icon_info = theme.lookup_icon(name, size_px, Gtk.IconLookupFlags(0))
        if icon_info is None:
            return [f"{name} at {size_px} px: not in the theme"]
        try:
            icon_info.load_icon()
        except GLib.Error as exc:
            return [f"{name} at {size_px} px: {exc.message}"]
    return []


def proportional_fonts() -> list[str]:
    """Return one line for each monospace font whose letters differ in width."""
    setting = Gio.Settings.new("org.gnome.desktop.interface").get_string("monospace-font-name")
    context = PangoCairo.FontMap.get_default().create_context()
    lines = []
    for name in ("monospace 12", setting):
        description = Pango.FontDescription.from_string(name)
        widths = []
        for text in ("iiiiiiiiii", "WWWWWWWWWW"):
            layout = Pango.Layout.new(context)
            layout.set_font_description(description)
            layout.set_text(text, -1)
            widths.append(layout.get_pixel_size()[0])
        if widths[0] != widths[1]:
            real = context.load_font(description).describe().to_string()
            lines.append(f"{name} ({real}): i {widths[0]} px, W {widths[1]} px")
    return lines


if not Gtk.init_check(sys.argv)[0]:
    sys.exit("no display")
report = {"missing_icons": missing_icons(), "proportional_fonts": proportional_fonts()}
sys.stdout.write(json.dumps(report))
