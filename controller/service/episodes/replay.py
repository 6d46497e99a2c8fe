"""The last replies of a session, so that a request which is made again is not carried out again."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from controller.service.episodes.errors import ReusedIdError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from controller.service.episodes.outcome import StepOutcome

KEPT = 8
"""Replies that are kept; older ids are still known as used."""


class Replies:
    """Steps by the id of their request; not safe among threads."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._kept: OrderedDict[str, Future[StepOutcome]] = OrderedDict()

    def find(self, request_id: str, digest: str) -> Future[StepOutcome] | None:
        """Return the step of a request that was made before; None where it was not.

        Args:
            request_id: of the caller.
            digest: of what it asks for.

        Raises:
            ReusedIdError: it asked for something else, or its reply is no longer kept.
        """
        if request_id not in self._digests:
            return None
        if self._digests[request_id] != digest:
            raise ReusedIdError(
                f"The request id {request_id!r} was used for another step of this episode.",
                resolution="Use a new id for each step.",
            )
        if request_id not in self._kept:
            raise ReusedIdError(
                f"The step {request_id!r} was carried out; its reply is no longer kept.",
                details=f"The last {KEPT} are.",
            )
        return self._kept[request_id]

    def add(self, request_id: str, digest: str, step: Future[StepOutcome]) -> None:
        """Keep a step that is being carried out."""
        self._digests[request_id] = digest
        self._kept[request_id] = step
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def outcomes(self) -> Iterator[StepOutcome]:
        """Return what came of the steps that are kept and done, the latest first."""
        for step in reversed(self._kept.values()):
            if step.done() and step.exception() is None:
                yield step.result()

    def forget(self) -> None:
        """Drop the replies; ids stay known."""
        self._kept.clear()
