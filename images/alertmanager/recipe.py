"""Alertmanager as an image with the same entry point, whatever its origin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from images.distribution import BASE
from images.upstream import UpstreamRecipe

if TYPE_CHECKING:
    from foundation.settings import Settings

HERE = Path(__file__).parent
UPSTREAM = "prom/alertmanager:v0.27.0"


def alertmanager_recipe(settings: Settings) -> UpstreamRecipe:
    """Return the recipe."""
    del settings
    return UpstreamRecipe(
        name="alertmanager",
        variant=BASE.name,
        files={"Dockerfile": HERE / "Dockerfile"},
        upstream=UPSTREAM,
        package="prometheus-alertmanager",
    )
