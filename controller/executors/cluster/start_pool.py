"""Start the pool of this host: ``python -m controller.executors.cluster.start_pool``.

A process of its own, because a process that is connected to a node ends with it.
"""

from __future__ import annotations

import sys

from controller.executors.cluster.actors import ensure_pool
from controller.executors.cluster.connection import connected
from controller.executors.cluster.records import ClusterFiles
from foundation.errors import MesocosmError
from foundation.logging import configure_logging
from foundation.settings import get_settings


def main() -> int:
    """Start the pool, unless it runs; return the exit code."""
    configure_logging(verbose=False)
    files = ClusterFiles(get_settings())
    host = files.host()
    if host is None:
        return 2
    try:
        with connected(host.head, host.token_path) as ray:
            ensure_pool(ray, host.name)
    except MesocosmError as exc:
        sys.stderr.write(f"{exc}\n")
        return exc.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
