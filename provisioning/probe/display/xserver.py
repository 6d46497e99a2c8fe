"""Connections to X servers with python-xlib, limited to the extensions that the probe uses."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from Xlib.display import Display

EXTENSIONS = ("XTEST", "X-Resource")
_ON_DEMAND = ("shape",)
"""Modules of extensions that a connection does not set up, because only evaluators use them."""


def load() -> None:
    """Import python-xlib while the zipapp is readable and before any fork.

    A connection sets up every extension that python-xlib lists and the server has, which takes most
    of the connection time. Therefore only the extensions that the probe uses stay in the list.

    Raises:
        ImportError: python-xlib is missing.
    """
    import Xlib.display
    import Xlib.ext

    kept = [row for row in Xlib.ext.__extensions__ if row[0] in EXTENSIONS]
    Xlib.ext.__extensions__[:] = kept
    for module in (*(module for _, module in kept), *_ON_DEMAND):
        importlib.import_module(f"Xlib.ext.{module}")


def open_display(name: Optional[str] = None) -> Display:
    """Connect to a display, with the cookie from XAUTHORITY.

    Args:
        name: such as ``:0``; DISPLAY by default.

    Raises:
        Xlib.error.DisplayError: no server is listening, or it refuses the connection.
    """
    load()
    from Xlib.display import Display

    return Display(name)
