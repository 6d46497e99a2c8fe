"""Errors of views: the renderer itself, or the document."""

from __future__ import annotations

from foundation.errors import EvaluationError


class RendererError(EvaluationError):
    """The renderer does not start, does not speak its protocol, or waits for a busy host: never the document's fault."""

    code = "renderer"


class DocumentUnviewableError(EvaluationError):
    """The renderer refused a document, or ended or exceeded its time limit on it."""

    code = "document_unviewable"


class RendererDiedError(DocumentUnviewableError):
    """The renderer ended without a reply, which may be the document's fault, or that of a host without memory."""
