"""View corrupt, huge and hostile documents: ``python -m tests.hostile_documents [--seed N] [--first N] [--last N]``.

Exit code 1 if the host or its view failed, a connection was made, a secret was read, or a container
was left behind.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import closing
from itertools import islice
from pathlib import Path

from foundation.clock import wait_until
from tests.hostile_documents.collection import COUNT, hostile_documents
from tests.hostile_documents.trial import BAD, Attempt, Listener, attempt, summary
from tests.standins.renderer import real_views, renderers_of


def main() -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first document")
    parser.add_argument("--last", type=int, default=COUNT, help="number after the last one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, closing(Listener()) as listener:
        folder = Path(name)
        documents = hostile_documents(options.seed, listener.address)
        chosen = islice(documents, options.first, options.last)
        with closing(real_views(folder, size=2)) as views:
            views.prepare()
            attempts = attempt(views, chosen, _tell)
        wait_until(lambda: not renderers_of(folder), timeout_s=20)
        left = len(renderers_of(folder))
    bad = [made for made in attempts if made.fate in BAD]
    sys.stdout.write(
        f"{summary(attempts)}; {listener.connections} connections, {left} containers left\n"
    )
    return 1 if bad or listener.connections or left else 0


def _tell(made: Attempt) -> None:
    line = f"{made.seconds:6.1f} s  {made.fate:<9}  {made.name}  {made.detail[:120]}"
    sys.stderr.write(f"{' '.join(line.split(chr(10)))}\n")


if __name__ == "__main__":
    sys.exit(main())
