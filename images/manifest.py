"""What is in an image: files, package versions, digests, and how it came to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.base.errors import ImageCorruptError
from appliance.base.files import digest_file, digest_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MANIFEST = "manifest.json"
FORMAT = 1


class FileEntry(BaseModel):
    """One file of an image.

    Attributes:
        size_bytes: of its content.
        sha256: of its content, 64 hex digits.
    """

    model_config = ConfigDict(frozen=True)

    size_bytes: int
    sha256: str


class Manifest(BaseModel):
    """The record of one build; written last, so that its presence means a whole image.

    Attributes:
        format: of this file.
        name: of the recipe.
        variant: such as ``debian-12``.
        recipe_digest: SHA-256 of what went in.
        image_digest: SHA-256 over `files`, or the docker image's id.
        built_at: UTC, ISO 8601.
        seconds: how long the build took.
        builder: version of this project.
        needs: digest of each image this one stands on.
        inputs: digest of each input of the recipe; empty in manifests of older versions.
        docker_tag: of a docker image.
        docker_id: of a docker image, ``sha256:...``.
        files: by path below the image's folder; empty for docker images.
        packages: version of each distribution package, by name.
        notes: further facts, such as how the distribution was chosen.
    """

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    name: str
    variant: str
    recipe_digest: str
    image_digest: str
    built_at: str
    seconds: float
    builder: str
    needs: dict[str, str] = {}
    inputs: dict[str, str] = {}
    docker_tag: str | None = None
    docker_id: str | None = None
    files: dict[str, FileEntry] = {}
    packages: dict[str, str] = {}
    notes: dict[str, str] = {}


def list_files(root: Path) -> list[Path]:
    """Return the content files of an image's folder, sorted; not the manifest and its stamp."""
    return sorted(
        path
        for path in root.rglob("*")
        if path.is_file() and not (path.parent == root and path.name in {MANIFEST, ".checked"})
    )


def describe_files(root: Path) -> dict[str, FileEntry]:
    """Digest all content files of a folder."""
    return {
        str(path.relative_to(root)): FileEntry(
            size_bytes=path.stat().st_size, sha256=digest_file(path)
        )
        for path in list_files(root)
    }


def digest_files(files: Mapping[str, FileEntry]) -> str:
    """Return the image digest of a file image."""
    return digest_json({name: entry.sha256 for name, entry in files.items()})


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of an image's folder.

    Raises:
        ImageCorruptError: there is none or it is not one.
    """
    path = folder / MANIFEST
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as exc:
        raise ImageCorruptError(
            f"The image in {folder} has no readable manifest.",
            details=str(exc),
            resolution=f"Run `mesocosm image build {folder.parent.name}`, which builds it anew.",
        ) from exc
