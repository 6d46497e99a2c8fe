"""The renderer's image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.builder import find

if TYPE_CHECKING:
    from foundation.settings import Settings
    from images.recipe import Image

RENDERER = "renderer"
"""Name of the image."""


def require_renderer(settings: Settings) -> Image:
    """Return the renderer's image.

    Raises:
        ImageMissingError: it is not built, or its recipe has changed since.
    """
    return find(RENDERER, settings)
