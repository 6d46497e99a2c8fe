"""All hostile documents of a seed."""

from __future__ import annotations

import random
from itertools import islice
from typing import TYPE_CHECKING

from tests.hostile_documents.active import active
from tests.hostile_documents.corrupted import corrupted
from tests.hostile_documents.huge import huge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.hostile_documents.bases import HostileDocument

COUNT = 300


def hostile_documents(seed: int, address: str, count: int = COUNT) -> Iterator[HostileDocument]:
    """Iterate over documents: all huge and active ones, the rest damaged at random.

    Args:
        seed: seed of the damage.
        address: host and port that documents try to reach.
        count: number of documents.
    """
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    made = 0
    for document in (*huge(), *active(address)):
        made += 1
        yield document
    yield from islice(corrupted(draw, count), max(0, count - made))
