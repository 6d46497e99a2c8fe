"""Read the folder of a custom image, and its parents up to a shipped desktop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.errors import SpecError, nearest
from foundation.yaml_models import parse
from foundation.yaml_source import read_yaml
from images.custom.declaration import FILE, SCHEMA_VERSION, ImageFile
from images.distribution import DISTRIBUTIONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from foundation.yaml_source import Source

    FindNamed = Callable[[str], Path | None]

DEFAULT = "desktop"
"""What `extends` names to mean this appliance's default desktop."""
SHIPPED = (DEFAULT, *DISTRIBUTIONS, *(f"{name}-cloud" for name in DISTRIBUTIONS))
_RESERVED = frozenset({*SHIPPED, "all"})
_VERSION = "schema_version"


@dataclass(frozen=True, slots=True)
class ImageFolder:
    """A folder with a valid ``image.yaml``.

    Attributes:
        path: the folder.
        source: the file, for errors.
        content: its content.
    """

    path: Path
    source: Source
    content: ImageFile

    @property
    def tests(self) -> list[Path]:
        """Return its specifications, sorted."""
        return sorted(self.path.glob("test_*.py"))


@dataclass(frozen=True, slots=True)
class Lineage:
    """An image and its parents.

    Attributes:
        folders: the image first, then its parents.
        shipped: the shipped desktop that the last of them extends: one of `SHIPPED`.
    """

    folders: tuple[ImageFolder, ...]
    shipped: str

    @property
    def own(self) -> ImageFolder:
        """Return the image itself."""
        return self.folders[0]


def read_folder(path: Path) -> ImageFolder:
    """Read the ``image.yaml`` of a folder, without looking at the files that it names.

    Args:
        path: the folder, or its ``image.yaml``.

    Raises:
        SpecError: the file is missing or invalid; the brief names file and line.
    """
    folder = path.parent if path.name == FILE else path
    if not (folder / FILE).is_file():
        raise SpecError(
            f"{folder} is not the folder of an image.",
            details=f"It has no {FILE}.",
            resolution="docs/custom-images.md shows the smallest one.",
        )
    source = read_yaml(folder / FILE)
    if isinstance(source.data, dict):
        version = source.data.get(_VERSION)
        if type(version) is not int or version != SCHEMA_VERSION:
            raise source.error(
                (_VERSION,),
                f"schema_version is {version!r}; this release reads {SCHEMA_VERSION}.",
                resolution=f"Write `{_VERSION}: {SCHEMA_VERSION}` at the top of the file.",
            )
        source = source.with_data({k: v for k, v in source.data.items() if k != _VERSION})
    content = parse(source, ImageFile)
    if content.name in _RESERVED:
        raise source.error(
            ("name",),
            f"{content.name!r} is the name of a shipped image.",
            resolution="Choose another name.",
        )
    return ImageFolder(folder, source, content)


def read_lineage(path: Path, find_named: FindNamed) -> Lineage:
    """Read an image and its parents.

    Args:
        path: folder of the image.
        find_named: returns the folder of a custom image that was built, by name; None if there is
            none.

    Raises:
        SpecError: one of them is invalid, has an unknown parent, or extends itself.
    """
    folders = [read_folder(path)]
    while (name := folders[-1].content.extends) not in SHIPPED:
        folder = folders[-1]
        parent = read_folder(_find_parent(folder, find_named))
        chain = [*(other.content.name for other in folders), parent.content.name]
        if parent.content.name in chain[:-1] or parent.path.resolve() in {
            other.path.resolve() for other in folders
        }:
            raise folder.source.error(
                ("extends",),
                f"the image extends itself: {' → '.join(chain)}.",
                resolution=f"Extend a shipped desktop in one of them: {', '.join(SHIPPED)}.",
            )
        folders.append(parent)
    return Lineage(tuple(folders), name)


def _find_parent(folder: ImageFolder, find_named: FindNamed) -> Path:
    """Return the folder of a parent that is not shipped.

    Raises:
        SpecError: there is none.
    """
    name = folder.content.extends
    if "/" in name or name.startswith("."):
        path = (folder.path / name).resolve()
        if (path / FILE).is_file():
            return path
        raise folder.source.error(
            ("extends",),
            f"{name} is not the folder of an image: it has no {FILE}.",
            resolution="Write a path relative to this folder, or the name of an image.",
        )
    sibling = folder.path.resolve().parent / name
    if "\0" not in name and (sibling / FILE).is_file():
        return sibling
    if (found := find_named(name)) is not None:
        return found
    siblings = [path.parent.name for path in folder.path.resolve().parent.glob(f"*/{FILE}")]
    near = nearest(name, [*SHIPPED, *siblings])
    hint = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise folder.source.error(
        ("extends",),
        f"There is no image called {name!r}.",
        resolution=f"{hint}Shipped desktops: {', '.join(SHIPPED)}.",
    )
