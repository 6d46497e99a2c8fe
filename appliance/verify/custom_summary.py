"""What a custom image consists of, and how it differs from its parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foundation.errors import ImageMissingError
from images.builder import find
from images.custom.folder import read_folder
from images.custom.product import ImageProduct
from images.custom.recipe import DESKTOP
from images.custom.registered import SCREEN, find_registered, parent_of, read_verdict
from images.manifest import read_manifest

if TYPE_CHECKING:
    from foundation.settings import Settings


def summarize(name: str, settings: Settings) -> dict[str, Any]:
    """Return the description of a custom image, for people and programs.

    Raises:
        ImageMissingError: it, or its parent, is not built.
    """
    place = find_registered(name, settings)
    if place is None:
        raise ImageMissingError(f"There is no custom image called {name!r}.")
    folder = read_folder(place)
    image = find(f"{DESKTOP}:{name}", settings)
    parent = find(f"{DESKTOP}:{parent_of(name, settings)}", settings)
    product, verdict = ImageProduct.of(image), read_verdict(name, settings)
    own, inherited = (read_manifest(entry.path) for entry in (image, parent))
    return {
        "image": image.label,
        "digest": image.digest,
        "parent": f"{parent.label} {parent.digest[:12]}",
        "lineage": " → ".join((*product.lineage, own.notes.get("distribution", ""))),
        "description": folder.content.description,
        "built": f"{own.built_at[:19]} in {own.seconds:.0f} s",
        "machine": product.machine.model_dump(exclude_none=True),
        "steps": [step.label for step in folder.content.steps],
        "packages added": [
            f"{package} {version}"
            for package, version in sorted(own.packages.items())
            if package not in inherited.packages
        ],
        "packages changed": [
            f"{package} {inherited.packages[package]} → {version}"
            for package, version in sorted(own.packages.items())
            if inherited.packages.get(package, version) != version
        ],
        "start": list(product.session.start),
        "ready": [str(condition) for condition in product.session.ready],
        "tests passed": list(verdict.passed) if verdict else [],
        "tests failed": list(verdict.failed) if verdict else [],
        "screen": str(place.parent / SCREEN),
    }
