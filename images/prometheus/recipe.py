"""Prometheus as an image with the same entry point, whatever its origin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from images.distribution import BASE
from images.upstream import UpstreamRecipe

if TYPE_CHECKING:
    from foundation.settings import Settings

HERE = Path(__file__).parent
UPSTREAM = "prom/prometheus:v2.55.1"


def prometheus_recipe(settings: Settings) -> UpstreamRecipe:
    """Return the recipe."""
    del settings
    return UpstreamRecipe(
        name="prometheus",
        variant=BASE.name,
        files={"Dockerfile": HERE / "Dockerfile"},
        upstream=UPSTREAM,
        package="prometheus",
    )
