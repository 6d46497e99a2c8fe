"""The content of an image: files, package versions, digests, and how it was built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.errors import ImageCorruptError
from foundation.files import digest_file, digest_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MANIFEST = "manifest.json"
FORMAT: Final = 1


class FileEntry(BaseModel):
    """One file of an image.

    Attributes:
        size_bytes: size of the content.
        sha256: SHA-256 of the content, 64 hex digits.
    """

    model_config = ConfigDict(frozen=True)

    size_bytes: int
    sha256: str


class Manifest(BaseModel):
    """The record of one build; written last, so that its presence means a complete image.

    Attributes:
        format: version of this file's schema; another one is refused.
        name: name of the recipe.
        variant: such as ``debian-12``.
        recipe_digest: SHA-256 of the recipe's inputs.
        image_digest: SHA-256 over `files`, or the docker image's ID, or over both.
        built_at: UTC, ISO 8601.
        seconds: duration of the build.
        builder: version of this project.
        needs: digest of each base image.
        inputs: digest of each input of the recipe; empty in manifests of older versions.
        docker_tag: tag of a docker image.
        docker_id: ID of a docker image, ``sha256:...``.
        files: files by path below the image's folder; docker images have some only if they are started
            with them.
        packages: version of each distribution package, by name.
        notes: additional facts, such as how the distribution was chosen.
    """

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = FORMAT
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
    """Return the content files of an image's folder, sorted, without the manifest and its stamp."""
    return sorted(
        path
        for path in root.rglob("*")
        if path.is_file() and not (path.parent == root and path.name in {MANIFEST, ".checked"})
    )


def describe_files(root: Path) -> dict[str, FileEntry]:
    """Return the size and digest of all content files of a folder."""
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
        ImageCorruptError: the manifest is missing or invalid.
    """
    path = folder / MANIFEST
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as exc:
        raise ImageCorruptError(
            f"The image in {folder} has no readable manifest.",
            details=str(exc),
            resolution=f"Run `mesocosm image build {folder.parent.name}` to rebuild it.",
        ) from exc
