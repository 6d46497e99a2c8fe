"""The last replies of a session, so that a repeated request is not executed twice."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from controller.service.episodes.errors import ReusedIdError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from controller.service.episodes.outcome import StepOutcome

KEPT = 8
"""Number of replies that are kept; older ids are still known as used."""


class Replies:
    """Steps by the id of their request; not thread-safe."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._kept: OrderedDict[str, Future[StepOutcome]] = OrderedDict()

    def find(self, request_id: str, digest: str) -> Future[StepOutcome] | None:
        """Return the step of an earlier request with this id; None if there is none.

        Args:
            request_id: id that the caller chose.
            digest: digest of the request.

        Raises:
            ReusedIdError: the earlier request was different, or its reply is no longer kept.
        """
        if request_id not in self._digests:
            return None
        if self._digests[request_id] != digest:
            raise ReusedIdError(
                f"The request id {request_id!r} was already used for another step of this episode.",
                resolution="Use a new id for each step.",
            )
        if request_id not in self._kept:
            raise ReusedIdError(
                f"The step {request_id!r} was executed, but its reply is no longer kept.",
                details=f"Only the last {KEPT} replies are kept.",
            )
        return self._kept[request_id]

    def add(self, request_id: str, digest: str, step: Future[StepOutcome]) -> None:
        """Add a step that has been started."""
        self._digests[request_id] = digest
        self._kept[request_id] = step
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def outcomes(self) -> Iterator[StepOutcome]:
        """Return the outcomes of the kept steps that are done, latest first."""
        for step in reversed(self._kept.values()):
            if step.done() and step.exception() is None:
                yield step.result()

    def forget(self) -> None:
        """Drop the replies; their ids remain known."""
        self._kept.clear()
