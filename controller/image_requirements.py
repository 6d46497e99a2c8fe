"""Check, before machines are leased, that images have what a suite requires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import RequirementError
from foundation.process import run
from images.builder import find
from images.catalog import settings_for
from images.manifest import Manifest, read_manifest
from images.store import iter_manifests
from provisioning.registry import registry
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from collections.abc import Collection

    from evaluators.loading.requirements import AppRequirement
    from evaluators.loading.suite import Suite
    from foundation.settings import Settings
    from provisioning.resource import ResourceSpec

_IMAGES = "images"
"""Folder of the images that a suite ships."""


def require_suite_images(suite: Suite, specs: Collection[ResourceSpec], settings: Settings) -> None:
    """Check that the images of a suite's desktops have the applications that it requires.

    Args:
        suite: the suite.
        specs: what its tasks need.
        settings: of the appliance.

    Raises:
        RequirementError: one does not; the error says which image would do.
        ImageError: an image is not built, or corrupt.
    """
    desktops = sorted({spec for spec in specs if spec.kind == DESKTOP}, key=str)
    for spec in desktops:
        entry = registry().chosen(spec.kind, settings)
        if not suite.requires or (label := entry.label_of(spec)) is None:
            continue
        image = find(label, settings)
        packages = read_manifest(image.path).packages
        lacking = [app for app in suite.requires if not has_app(app, packages)]
        if lacking:
            raise _lacks(suite, image.label, lacking, packages, settings)


def has_app(app: AppRequirement, packages: dict[str, str]) -> bool:
    """Return whether packages contain an application in a version that will do.

    Args:
        app: what is required.
        packages: versions by name of the package.
    """
    version = packages.get(app.package)
    if version is None or not app.comparison:
        return version is not None
    # The distribution's epoch and revision say nothing about the program.
    upstream = version.rpartition(":")[2]
    upstream = upstream.rpartition("-")[0] or upstream
    operator = {">=": "ge", "=": "eq"}[app.comparison]
    return run(["dpkg", "--compare-versions", upstream, operator, app.version]).exit_code == 0


def require_shipped_images(
    suite: Suite, specs: Collection[ResourceSpec], settings: Settings
) -> None:
    """Check that images that a suite brings in its folder are built.

    Args:
        suite: the suite.
        specs: what its tasks need.
        settings: of the appliance.

    Raises:
        RequirementError: one is not; the error says how to build it.
    """
    folder = suite.vocabulary.folder
    for spec in sorted(specs, key=str):
        if not spec.image or spec.kind != DESKTOP or folder is None:
            continue
        shipped = folder / _IMAGES / spec.image
        is_known = settings_for(f"{DESKTOP}:{spec.image}", settings) is not None
        if is_known or not shipped.is_dir():
            continue
        raise RequirementError(
            f"The suite {suite.name} brings its image {spec.image!r}, which is not built yet.",
            resolution=f"Run `mesocosm image build {shipped}`.",
        )


def _lacks(
    suite: Suite,
    label: str,
    lacking: list[AppRequirement],
    packages: dict[str, str],
    settings: Settings,
) -> RequirementError:
    name = label.partition(":")[0]
    suitable = sorted(
        {
            manifest.variant
            for _, manifest in iter_manifests(settings.images_dir)
            if isinstance(manifest, Manifest)
            and manifest.name == name
            and all(has_app(app, manifest.packages) for app in suite.requires)
        }
    )
    cure = "No built image has it: write an image.yaml with it (docs/custom-images.md)."
    if suitable:
        cure = (
            f"These images have it: {', '.join(suitable)}. Write "
            f"`requires: {{image: {suitable[0]}}}` in suite.yaml."
        )
    return RequirementError(
        f"The image {label} lacks what the suite {suite.name} requires.",
        details="\n".join(
            f"required: {app}; it has {packages.get(app.package, 'no such package')}"
            for app in lacking
        ),
        resolution=cure,
    )
