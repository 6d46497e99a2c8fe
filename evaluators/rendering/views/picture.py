"""View of a picture."""

from __future__ import annotations

from typing import Literal

from evaluators.rendering.views.common import Shown, ViewModel


class PictureView(ViewModel):
    """A picture; its page is the picture as it is displayed: oriented, in sRGB, over white.

    Attributes:
        version: version of the view.
        kind: its kind.
        format: such as ``PNG``.
        mode: Pillow's mode of the file, such as ``RGBA``.
        width_px: width as it is displayed.
        height_px: height as it is displayed.
        frames: number of frames.
        has_transparency: whether any pixel may be transparent.
        shown: empty: pictures have no items.
    """

    version: int
    kind: Literal["picture"]
    format: str
    mode: str
    width_px: int
    height_px: int
    frames: int
    has_transparency: bool
    shown: tuple[Shown, ...]
