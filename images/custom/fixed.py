"""Images that are not built here: saved from a machine by hand, or imported from a file.

The folder of such an image in the registry has ``fixed.json`` beside its ``image.yaml``, which names it
and its parent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.errors import ImageBuildError, ImageCorruptError, UsageError
from foundation.strict import NAME_PATTERN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from images.recipe import Image, Product, Report

    Build = Callable[[Path, Report], Product]

FIXED = "fixed.json"
"""Its file."""
DESKTOP = "desktop"
HAND_MADE = "hand-made"
"""The note in manifests of images that were made by hand, or from such an image."""
_REFERENCE = re.compile(r"(?P<name>[^:]+)(:(?P<tag>[A-Za-z0-9][A-Za-z0-9._-]{0,31}))?")
_MAX_CHARS = 64


class FixedImage(BaseModel):
    """The content of ``fixed.json``.

    Attributes:
        id: what its recipe digest is computed from.
        origin: how it came here.
        name: variant of the image: a name, or a name and a tag, such as ``office:tuesday``.
        parent: variant that it was made from.
        parent_digest: digest of that image.
        machine: id of the machine that was saved; empty for an imported image that was built.
        saved_at: UTC, ISO 8601.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    origin: Literal["hand-made", "imported"]
    name: str
    parent: str
    parent_digest: str = ""
    machine: str = ""
    saved_at: str = ""


class FixedRecipe:
    """Recipe of a fixed image, which cannot be built again.

    Args:
        record: the image.
        make: makes its files, when it is saved or imported.
    """

    name = DESKTOP
    needs: tuple[str, ...] = ()

    def __init__(self, record: FixedImage, make: Build | None = None) -> None:
        self._record = record
        self._make = make

    @property
    def variant(self) -> str:
        """The image's name, with its tag."""
        return self._record.name

    def inputs(self) -> Mapping[str, object]:
        """Return what identifies the image."""
        return {"fixed": self._record.id}

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Make the files of an image that is being saved or imported.

        Raises:
            ImageBuildError: it is neither.
        """
        del needed
        if self._make is None:
            refuse_build(self._record)
        return self._make(workdir, report)


def refuse_build(record: FixedImage) -> NoReturn:
    """Raise the error of an image that cannot be built.

    Raises:
        ImageBuildError: always.
    """
    raise ImageBuildError(
        f"The image {record.name} is {record.origin}; it cannot be built.",
        details="It was made from a machine or a file, not from an image.yaml.",
        resolution=f"Import it again, or write it down: `mesocosm image diff {record.name} --as-yaml`.",
    )


def split_reference(text: str) -> tuple[str, str]:
    """Return name and tag of an image as users write it, such as ``office`` or ``office:tuesday``.

    Raises:
        UsageError: it is no valid name.
    """
    match = _REFERENCE.fullmatch(text)
    if match is None or not re.fullmatch(NAME_PATTERN, match["name"]) or len(text) > _MAX_CHARS:
        raise UsageError(
            f"{text!r} is not the name of an image.",
            details="A name has lower-case letters, digits and hyphens; a tag may follow a colon.",
            resolution="Write, for example, `office` or `office:tuesday`.",
        )
    return match["name"], match["tag"] or ""


def read_record(folder: Path) -> FixedImage | None:
    """Return the record of a registered image; None if it is built here.

    Args:
        folder: its folder in the registry.

    Raises:
        ImageCorruptError: the record is not readable.
    """
    path = folder / FIXED
    if not path.is_file():
        return None
    try:
        return FixedImage.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as exc:
        raise ImageCorruptError(
            f"The image in {folder} has no readable {FIXED}.",
            details=str(exc),
            resolution="Remove it with `mesocosm image remove`, and import it again.",
        ) from exc


def describe_origin(record: FixedImage) -> str:
    """Return in one line where an image came from."""
    source = f"machine {record.machine}, " if record.machine else ""
    return f"{record.origin}: {source}{record.saved_at[:19]}, from {record.parent}"
