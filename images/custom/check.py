"""Read and check a custom image, as commands and builds do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.errors import MesocosmError
from images.custom.archive import PackageArchive
from images.custom.checks import check_lineage, free_mib
from images.custom.folder import DEFAULT, read_lineage
from images.custom.registered import find_registered
from images.distribution import choose_distribution, get_distribution
from images.log import ignore_progress
from images.manifest import Manifest
from images.store import iter_manifests

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings
    from images.custom.folder import Lineage
    from images.distribution import Distribution
    from images.recipe import Report

_CLOUD = "-cloud"
_UNKNOWN_PARENT_MIB = 4096
_COPIES = 3
"""Of the parent's disk: the unpacked tree, the raw disk, and layers in the Docker engine."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A custom image without errors.

    Attributes:
        lineage: the image and its parents.
        distribution: distribution of the shipped desktop that it extends.
        warnings: what could not be checked, one line each.
    """

    lineage: Lineage
    distribution: Distribution
    warnings: tuple[str, ...] = ()


def check_folder(path: Path, settings: Settings, report: Report = ignore_progress) -> Checked:
    """Check the folder of a custom image.

    Args:
        path: the folder.
        settings: locate images and archives; choose the default desktop.
        report: receives progress.

    Raises:
        SpecError: there are errors; the details have all, each with file and line.
    """
    lineage = read_lineage(path, lambda name: find_registered(name, settings))
    distribution = distribution_of(lineage.shipped, settings)
    warnings: tuple[str, ...] = ()
    packages: frozenset[str] | None = None
    if any(step.packages for folder in lineage.folders for step in folder.content.steps):
        try:
            packages = PackageArchive(distribution, settings, report).names()
        except MesocosmError as exc:
            warnings = (f"the names of packages were not checked: {exc.brief}",)
    check_lineage(
        lineage,
        packages,
        free_mib=free_mib(settings.images_dir),
        needed_mib=_needed_mib(distribution, settings),
    )
    return Checked(lineage, distribution, warnings)


def distribution_of(shipped: str, settings: Settings) -> Distribution:
    """Return the distribution of a shipped desktop.

    Args:
        shipped: one of `images.custom.folder.SHIPPED`.
        settings: choose the default desktop.
    """
    if shipped == DEFAULT:
        return get_distribution(choose_distribution(settings).name)
    return get_distribution(shipped.removesuffix(_CLOUD))


def _needed_mib(distribution: Distribution, settings: Settings) -> int:
    """Return an estimate of the space for a build, MiB, by the size of built desktops."""
    sizes = [
        sum(entry.size_bytes for entry in manifest.files.values()) >> 20
        for _, manifest in iter_manifests(settings.images_dir)
        if isinstance(manifest, Manifest)
        and manifest.name == "desktop"
        and manifest.variant.startswith(distribution.name)
    ]
    return _COPIES * max(sizes, default=_UNKNOWN_PARENT_MIB)
