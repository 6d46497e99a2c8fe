"""Applications that tasks may name, and their categories.

The twelve categories are OmniBench's (2025, appendix A); this module assigns the applications of
Mesocosm's images to them. Tasks name applications in ``app``, case-sensitively; suites add their
own with ``applications`` in ``suite.yaml``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "Social Communication": ("Thunderbird", "Mail", "Messages", "Phone", "Contacts"),
    "Multimedia Playback": ("VLC", "Videos", "Music", "Photos"),
    "Multimedia Editing": ("GIMP", "Inkscape"),
    "Office": (
        "LibreOffice",
        "LibreOffice Calc",
        "LibreOffice Impress",
        "LibreOffice Writer",
        "Document Viewer",
    ),
    "Utility": ("Calculator", "Archive Manager", "Clock", "Maps", "Text Editor"),
    "Programming": ("Terminal", "Git"),
    "System Management": ("Files", "Settings"),
    "Web Browsing": ("Firefox", "Browser"),
    "Screen Capture": ("Screenshot",),
    "Task Management": ("Tasks", "Calendar"),
    "Note Management": ("Keep", "Notes"),
    "Lifestyle": ("Weather",),
}

CATEGORIES: Mapping[str, str] = {
    app: category for category, apps in _MEMBERS.items() for app in apps
}
"""Category by application."""
