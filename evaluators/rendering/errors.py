"""Errors of views: the renderer itself, or the document."""

from __future__ import annotations

from foundation.errors import EvaluationError


class RendererError(EvaluationError):
    """The renderer does not start, or does not speak its protocol: never the document's fault."""

    code = "renderer"


class DocumentUnviewableError(EvaluationError):
    """The renderer refused a document, or ended or exceeded its time limit on it."""

    code = "document_unviewable"
