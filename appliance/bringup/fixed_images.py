"""Make, register and find images that are not built here; see `images.custom.fixed`."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import UnknownNameError, UsageError
from foundation.files import locked, write_atomic
from images.builder import Builder
from images.catalog import make_recipe
from images.custom.declaration import FILE, SCHEMA_VERSION
from images.custom.fixed import (
    DESKTOP,
    FIXED,
    HAND_MADE,
    FixedRecipe,
    read_record,
    split_reference,
)
from images.custom.folder import SHIPPED, read_folder
from images.custom.registered import find_registered, register, registered_names
from images.manifest import Manifest, read_manifest
from images.store import iter_manifests, remove_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foundation.settings import Settings
    from images.custom.fixed import Build, FixedImage
    from images.recipe import Image, Recipe, Report


def require_free_name(text: str, settings: Settings) -> None:
    """Check that no image has a name.

    Raises:
        UsageError: it is no valid name, or taken.
    """
    name, tag = split_reference(text)
    if name in {*SHIPPED, "all"}:
        raise UsageError(
            f"{name!r} is the name of a shipped image.", resolution="Choose another name."
        )
    if find_registered(text, settings) is not None:
        other = f"another tag, such as `{name}:2`" if not tag else "another tag"
        raise UsageError(
            f"There is already an image called {text!r}.",
            resolution=f"Choose {other}, or run `mesocosm image remove {text}` first.",
        )


@contextmanager
def naming(name: str, settings: Settings) -> Iterator[None]:
    """Hold the lock of a new image for a block; if the block fails, nothing of the image is left.

    Args:
        name: its name, which is free.
        settings: locate images and registry.

    Raises:
        MachineBusyError: another process makes an image of that name.
    """
    place = settings.custom_images_dir / name
    with locked(place / ".lock", what=f"The image {name}"):
        try:
            yield
        except BaseException:
            if find_registered(name, settings) is None:
                _remove_unregistered(name, settings)
                shutil.rmtree(place, ignore_errors=True)
            raise


def _remove_unregistered(name: str, settings: Settings) -> None:
    for folder, manifest in iter_manifests(settings.images_dir):
        if isinstance(manifest, Manifest) and (manifest.name, manifest.variant) == (DESKTOP, name):
            remove_folder(folder)


def read_fixed(name: str, settings: Settings) -> FixedImage | None:
    """Return the record of a fixed image; None if an image is built here, or there is none.

    Raises:
        ImageCorruptError: its record is not readable.
    """
    place = find_registered(name, settings)
    return None if place is None else read_record(place)


def require_image(name: str, settings: Settings) -> Image:
    """Return a desktop image by the name that users write.

    Args:
        name: such as ``office:tuesday``, ``desktop`` or ``desktop:debian-12``.
        settings: locate the images; choose the default one.

    Raises:
        UnknownNameError: there is no such image.
        ImageError: it is not built, or corrupt.
    """
    own = name.removeprefix(f"{DESKTOP}:")
    label = DESKTOP if own == DESKTOP else f"{DESKTOP}:{own}"
    try:
        return Builder(settings).find(label)
    except UnknownNameError as exc:
        known = [*SHIPPED, *registered_names(settings)]
        raise UnknownNameError.of("desktop image", own, known) from exc


def is_hand_made(image: Image) -> bool:
    """Return whether an image, or a parent of it, was made by hand."""
    return HAND_MADE in read_manifest(image.path).notes


def build_fixed(record: FixedImage, make: Build, settings: Settings, report: Report) -> Image:
    """Make the files of a fixed image, and return the image; nothing incomplete is left.

    Args:
        record: the image.
        make: writes its files into a folder.
        settings: locate the image store.
        report: receives progress.

    Raises:
        ImageBuildError: it failed, also because the disk is full.
    """

    def recipe_of(name: str, given: Settings) -> Recipe:
        if (name, given.distribution) == (DESKTOP, record.name):
            return FixedRecipe(record, make)
        return make_recipe(name, given)

    own = settings.model_copy(update={"distribution": record.name, "desktop_source": "archive"})
    return Builder(own, make=recipe_of).ensure(DESKTOP, report, repair=True)


def register_fixed(
    record: FixedImage, settings: Settings, *, description: str, folder: Path | None = None
) -> None:
    """Make a fixed image available under its name.

    Args:
        record: the image.
        settings: locate the registry.
        description: what it is.
        folder: the folder that it was built from, if it was.
    """
    with tempfile.TemporaryDirectory() as place:
        own = folder or Path(place)
        Path(place).chmod(0o755)  # the copy has the folder's mode
        if folder is None:
            name, _ = split_reference(record.name)
            rows = {
                "schema_version": SCHEMA_VERSION,
                "name": name,
                "extends": record.parent,
                "description": description,
            }
            # JSON texts are YAML.
            lines = [f"{key}: {json.dumps(value)}" for key, value in rows.items()]
            write_atomic(own / FILE, "\n".join(lines) + "\n")
        write_atomic(own / FIXED, record.model_dump_json(indent=1) + "\n")
        register(read_folder(own), record.parent, settings, name=record.name)
