"""Why something of a task cannot be imported."""

from __future__ import annotations

from foundation.errors import SpecError


class NotCarriedError(SpecError):
    """Something of a task has no counterpart here.

    Args:
        kind: a key of `controller.importing.report.KINDS`.
        text: what exactly.
    """

    code = "not_carried"

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind
