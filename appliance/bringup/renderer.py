"""Build the renderer of documents after the bring-up, which does not wait for it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evaluators.rendering.image import RENDERER, require_renderer
from foundation.errors import ImageError
from foundation.process import start_detached

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings


def build_renderer_in_background(settings: Settings) -> Path | None:
    """Start a process that builds the renderer, unless it is current.

    A run that needs it waits for that build.

    Args:
        settings: of the appliance.

    Returns:
        The log of the process; None if none was started.
    """
    try:
        require_renderer(settings)
    except ImageError:
        log = settings.logs_dir / "renderer-build.log"
        start_detached(
            [sys.executable, "-m", "appliance.cli.main", "image", "build", RENDERER], log=log
        )
        return log
    return None
