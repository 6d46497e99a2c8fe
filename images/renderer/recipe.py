"""The renderer's image: the desktop's root file system, pdfium, Pillow and the program."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.settings import REPOSITORY
from images.distribution import choose_distribution
from images.dockerfile import DockerRecipe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.settings import Settings
    from images.recipe import Image, Product, Report

HERE = Path(__file__).parent
DESKTOP = "desktop-container"
_SOURCE = ("images/__init__.py", "images/renderer/__init__.py", "images/renderer/program")
_OWN = ("Dockerfile", "requirements.lock", "settings.xcu")


@dataclass(frozen=True)
class RendererRecipe:
    """Recipe of the renderer of one distribution's documents.

    Its programs, fonts and locale are those of the desktop, whose container image it is based on.

    Args:
        settings: name the distribution.
    """

    settings: Settings
    name: str = field(default="renderer", init=False)
    needs: tuple[str, ...] = field(default=("base", DESKTOP), init=False)

    @property
    def variant(self) -> str:
        """The distribution's name."""
        return choose_distribution(self.settings).name

    def inputs(self) -> Mapping[str, object]:
        """Return the digests of its own files; those of the base images cover the rest."""
        return self._build_with({}).inputs()

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Build the image with the docker engine."""
        args = {"DESKTOP": needed[DESKTOP].tag or ""}
        return self._build_with(args).build(workdir, report, needed)

    def _build_with(self, args: Mapping[str, str]) -> DockerRecipe:
        files = {name: HERE / name for name in _OWN}
        source = {f"src/{name}": REPOSITORY / name for name in _SOURCE}
        return DockerRecipe(self.name, self.variant, {**files, **source}, args)
