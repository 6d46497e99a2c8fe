"""Which probe this is."""

from __future__ import annotations

import functools
import pkgutil

VERSION_FILE = "VERSION"


@functools.lru_cache(maxsize=None)
def version() -> str:
    """Return the digest of the zipapp this runs from; ``source`` when it runs from a checkout.

    Read once: after a reset, whatever is read again comes from the disk.
    """
    try:
        data = pkgutil.get_data("provisioning.probe", VERSION_FILE)
    except OSError:
        data = None
    return data.decode("ascii").strip() if data else "source"
