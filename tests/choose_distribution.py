"""Print the distribution that tests run on: Ubuntu 22.04 where its archive answers, else Debian 12.

Whatever ``auto`` prefers, the desktop that users get first is the one that tests see.
"""

from __future__ import annotations

import sys

from foundation.settings import get_settings
from images.distribution import DISTRIBUTIONS, FALLBACK, check_archive

TESTED = "ubuntu-22.04"


def choose() -> str:
    """Return the name of the distribution."""
    reach = check_archive(DISTRIBUTIONS[TESTED], get_settings())
    sys.stderr.write(f"tests: {reach.reason}\n")
    return TESTED if reach.ok else FALLBACK


if __name__ == "__main__":
    sys.stdout.write(f"{choose()}\n")
