"""Connections to X servers by python-xlib, with the extensions that the probe uses."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from Xlib.display import Display

EXTENSIONS = ("XTEST", "X-Resource")


def load() -> None:
    """Import python-xlib, while the zipapp can be read and before any fork.

    A connection sets up every extension that python-xlib lists and the server has: most of the time
    that opening one takes. So only those that the probe uses are left in the list.

    Raises:
        ImportError: python-xlib is missing.
    """
    import Xlib.display
    import Xlib.ext

    kept = [row for row in Xlib.ext.__extensions__ if row[0] in EXTENSIONS]
    Xlib.ext.__extensions__[:] = kept
    for _, module in kept:
        importlib.import_module(f"Xlib.ext.{module}")


def open_display(name: Optional[str] = None) -> Display:
    """Connect to a display; the cookie is taken from XAUTHORITY.

    Args:
        name: such as ``:0``; by default the one that DISPLAY names.

    Raises:
        Xlib.error.DisplayError: no server listens there, or it refuses us.
    """
    load()
    from Xlib.display import Display

    return Display(name)
