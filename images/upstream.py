"""Images that upstream publishes: pulled from a registry, else from the distribution's package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from images.dockerfile import DockerRecipe
from images.engine import connect, pull
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from images.recipe import Image, Report

REGISTRY_DEADLINE_S = 5


@dataclass(frozen=True, kw_only=True)
class UpstreamRecipe(DockerRecipe):
    """Upstream's image if a registry provides it, else base and the distribution's package.

    Both accept the same arguments: the Dockerfile's entry point is the program.

    Attributes:
        upstream: reference of upstream's image, with its version.
        package: the distribution's package that the Dockerfile installs.
    """

    upstream: str
    package: str

    def inputs(self) -> Mapping[str, object]:
        """Return the digests of the files, and the upstream version."""
        return {**super().inputs(), "upstream": self.upstream}

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Pull or build the image; `notes` record which."""
        with connect() as client:
            pulled = pull(client, self.upstream, deadline_s=REGISTRY_DEADLINE_S, report=report)
        if pulled:
            return Product(docker_id=pulled, notes={"origin": f"registry image {self.upstream}"})
        built = super().build(workdir, report, needed)
        version = built.packages.get(self.package, "")
        return Product(
            docker_id=built.docker_id,
            packages=built.packages,
            notes={"origin": f"distribution package {self.package} {version}"},
        )
