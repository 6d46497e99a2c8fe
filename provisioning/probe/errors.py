"""Errors of the guest, as reported to the host."""

from __future__ import annotations


class ProbeError(Exception):
    """A request failed; the kind is machine-readable.

    Args:
        kind: one of ``bad_params``, ``busy``, ``no_session``, ``not_found``,
            ``not_straight``, ``oversize``, ``timeout``, ``unknown_bundle``, ``unknown_op``, ``unknown_key``, ``unsupported``,
            ``worker_died``, ``failed``.
        message: what happened, for people.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"
