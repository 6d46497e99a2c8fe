"""The source of views that evaluators use: by default one of this process, opened when it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from foundation.once import once

if TYPE_CHECKING:
    from evaluators.rendering.request import ViewRequest
    from evaluators.rendering.views.any import ViewedDocument


class ViewSource(Protocol):
    """Source of views of documents."""

    def view(self, document: bytes, request: ViewRequest) -> ViewedDocument:
        """Return the view of a document.

        Raises:
            DocumentUnviewableError: the renderer refused the document, died on it, or took too long.
            RendererError: the renderer does not start.
            ImageMissingError: the renderer's image is not built.
        """
        ...


def _open() -> ViewSource:
    # Docker's client takes 0.2 s to import, and most processes view no document.
    from evaluators.rendering.client import open_views  # noqa: PLC0415
    from foundation.settings import get_settings  # noqa: PLC0415

    return open_views(get_settings())


shared_views = once(_open)
"""Return the views of this process, by the renderer that is built for its settings."""
