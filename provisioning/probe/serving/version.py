"""Version of this probe."""

from __future__ import annotations

import functools
import pkgutil

VERSION_FILE = "VERSION"


@functools.lru_cache(maxsize=None)
def version() -> str:
    """Return the digest of the running zipapp; ``source`` if it runs from a checkout.

    Read only once, because after a reset a second read would come from the disk.
    """
    try:
        data = pkgutil.get_data("provisioning.probe", VERSION_FILE)
    except OSError:
        data = None
    return data.decode("ascii").strip() if data else "source"
