"""The views of documents, for evaluators.

Example::

    views = open_views(settings)
    seen = views.view(document, ViewRequest(suffix="ods", shown=(CellItem(sheet="S", cell="B3"),)))
    seen.view.shown[0].is_shown
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evaluators.rendering.cache import ViewCache
from evaluators.rendering.container import open_renderer
from evaluators.rendering.errors import DocumentUnviewableError, RendererDiedError, RendererError
from evaluators.rendering.image import require_renderer
from evaluators.rendering.pool import RendererPool
from evaluators.rendering.process import VIEW_TIMEOUT_S, RendererProcess
from evaluators.rendering.reading import read_again
from evaluators.rendering.views.any import ViewedDocument, parse_view

if TYPE_CHECKING:
    from evaluators.rendering.request import ViewRequest
    from foundation.settings import Settings

MAX_DOCUMENT_BYTES = 64 << 20
_FOLDER = "views"


class DocumentViews:
    """Makes views of documents, or returns cached ones; thread-safe.

    Args:
        digest: digest of the renderer.
        pool: its processes.
        cache: views that were made before.
        timeout_s: time limit of each view.

    Attributes:
        memory_peak_mib: memory of the renderer that made the last view, see `RendererProcess`.
    """

    def __init__(
        self,
        digest: str,
        pool: RendererPool,
        cache: ViewCache,
        timeout_s: float = VIEW_TIMEOUT_S,
    ) -> None:
        self.digest = digest
        self._pool = pool
        self._cache = cache
        self._timeout_s = timeout_s
        self.memory_peak_mib: float | None = None

    def view(self, document: bytes, request: ViewRequest) -> ViewedDocument:
        """Return the view of a document.

        Args:
            document: the file.
            request: what is asked.

        Raises:
            DocumentUnviewableError: the document is too large, or the renderer refused it, died on
                it twice, or took too long.
            RendererError: the renderer does not start, does not speak its protocol, or waits for a busy host.
        """
        if len(document) > MAX_DOCUMENT_BYTES:
            limit_mib = MAX_DOCUMENT_BYTES >> 20
            raise DocumentUnviewableError(f"The document is larger than {limit_mib} MiB.")
        key = self._cache.key(self.digest, document, request)
        parts = self._cache.get(key)
        if parts is None:
            try:
                view, *pages = self._render(document, request)
            except RendererDiedError:
                view, *pages = self._render(document, request)
            parts = [read_again(view), *pages]
            viewed = _parse(parts)
            self._cache.put(key, parts)
            return viewed
        return _parse(parts)

    def _render(self, document: bytes, request: ViewRequest) -> list[bytes]:
        with self._pool.renderer() as renderer:
            parts = renderer.view(document, request.asked(), self._timeout_s)
            self.memory_peak_mib = renderer.memory_peak_mib
        return parts

    def warm(self) -> None:
        """Start the renderers that stand by, in the background."""
        self._pool.warm()

    def prepare(self) -> None:
        """Start the renderers that stand by, and wait until they are ready."""
        self._pool.warm()
        self._pool.wait_until_warm()

    def close(self) -> None:
        """End the renderers that stand by."""
        self._pool.close()


def open_views(settings: Settings, *, size: int = 1) -> DocumentViews:
    """Return views by the renderer that is built for these settings; the caller must close it.

    Args:
        settings: locate the image and the cache.
        size: number of renderers that stand by.

    Raises:
        ImageMissingError: the renderer's image is not built.
    """
    image = require_renderer(settings)
    if image.tag is None:
        raise RendererError("The renderer's image has no tag.")
    start = partial(_start, image.tag, settings)
    cache = ViewCache(settings.state_dir / _FOLDER)
    return DocumentViews(image.digest, RendererPool(start, size=size), cache)


def _start(tag: str, settings: Settings) -> RendererProcess:
    return RendererProcess(open_renderer(tag, settings.state_dir))


def _parse(parts: list[bytes]) -> ViewedDocument:
    return ViewedDocument(parse_view(parts[0]), tuple(parts[1:]))
