"""Prometheus, as one image with one entry point wherever it is from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from images.distribution import host_distribution
from images.dockerfile import DockerRecipe
from images.engine import connect, pull
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from appliance.base.settings import Settings
    from images.recipe import Image, Report

HERE = Path(__file__).parent
UPSTREAM = "prom/prometheus:v2.55.1"
REGISTRY_DEADLINE_S = 5


class PrometheusRecipe(DockerRecipe):
    """Upstream's image where a registry gives it, else base and the distribution's package."""

    def inputs(self) -> Mapping[str, object]:
        """Return the digests of its files and the upstream version."""
        return {**super().inputs(), "upstream": UPSTREAM}

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Pull it or build it; `notes` say which."""
        with connect() as client:
            pulled = pull(client, UPSTREAM, deadline_s=REGISTRY_DEADLINE_S, report=report)
        if pulled:
            return Product(docker_id=pulled, notes={"origin": f"registry image {UPSTREAM}"})
        built = super().build(workdir, report, needed)
        version = built.packages.get("prometheus", "")
        return Product(
            docker_id=built.docker_id,
            packages=built.packages,
            notes={"origin": f"distribution package prometheus {version}"},
        )


def prometheus_recipe(settings: Settings) -> PrometheusRecipe:
    """Make the recipe."""
    del settings
    return PrometheusRecipe(
        name="prometheus",
        variant=host_distribution().name,
        files={"Dockerfile": HERE / "Dockerfile"},
    )
