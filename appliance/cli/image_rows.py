"""Rows of ``mesocosm image``: one for each image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.errors import MesocosmError
    from images.manifest import Manifest


def judge(error: MesocosmError | None) -> dict[str, str]:
    """Return the columns of an image's state."""
    if error is None:
        return {"state": "ok", "cause": "", "cure": ""}
    cause = f"{error.brief} {error.details}".strip()
    return {"state": error.code, "cause": cause, "cure": error.resolution}


def describe(folder: Path, manifest: Manifest | MesocosmError) -> dict[str, Any]:
    """Return the row of one image."""
    from images.manifest import Manifest

    if not isinstance(manifest, Manifest):
        return {"name": folder.parent.name, "path": str(folder), **judge(manifest)}
    return {
        "name": manifest.name,
        "variant": manifest.variant,
        "digest": manifest.image_digest,
        "recipe_digest": manifest.recipe_digest,
        "docker_tag": manifest.docker_tag,
        "path": str(folder),
        "size_bytes": sum(entry.size_bytes for entry in manifest.files.values()),
        "packages": len(manifest.packages),
        "built_at": manifest.built_at,
        "build_seconds": manifest.seconds,
        "notes": manifest.notes,
    }
