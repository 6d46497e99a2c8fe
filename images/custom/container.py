"""The container of a custom image, from the same disk."""

from __future__ import annotations

from images.desktop_container.recipe import DesktopContainerRecipe


class CustomContainerRecipe(DesktopContainerRecipe):
    """Recipe of a custom image's container.

    Args:
        variant: name of the image, which settings choose.
    """

    def __init__(self, variant: str) -> None:
        self._variant = variant

    @property
    def variant(self) -> str:
        """The image's name."""
        return self._variant
