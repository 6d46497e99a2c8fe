"""Copies of the folders of custom images that were built and tested, by name.

::

    <custom_images_dir>/<name>/image           link to the current copy
    <custom_images_dir>/<name>/copy-<random>/  a copy of the folder, and `parent.txt`
    <custom_images_dir>/<name>/verified.json   whether an image passed its specification
    <custom_images_dir>/<name>/screen.png      the screen when the machine was saved
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.errors import ImageCorruptError, ImageMissingError
from foundation.files import write_atomic
from images.custom.declaration import FILE
from images.custom.fixed import FixedRecipe, read_record

if TYPE_CHECKING:
    from foundation.settings import Settings
    from images.custom.folder import ImageFolder
    from images.recipe import Recipe

SCREEN = "screen.png"
_CURRENT, _COPY, _PARENT, _VERDICT = "image", "copy-", "parent.txt", "verified.json"
_SKIPPED = ("__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache")


class Verdict(BaseModel):
    """Whether an image passed its specification.

    Attributes:
        digest: digest of the image.
        passed: names of the tests that passed.
        failed: what failed, one text each.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


def read_verdict(name: str, settings: Settings) -> Verdict | None:
    """Return the last verdict on the images of a name; None if there is none."""
    try:
        data = (settings.custom_images_dir / name / _VERDICT).read_bytes()
        return Verdict.model_validate_json(data)
    except (OSError, ValidationError):
        return None


def write_verdict(name: str, verdict: Verdict, settings: Settings) -> None:
    """Keep the verdict on an image."""
    path = settings.custom_images_dir / name / _VERDICT
    write_atomic(path, verdict.model_dump_json(indent=1) + "\n")


def require_not_failed(name: str, digest: str, settings: Settings) -> None:
    """Check that an image did not fail its specification.

    Raises:
        ImageCorruptError: it did.
    """
    verdict = read_verdict(name, settings)
    if verdict is not None and verdict.digest == digest and verdict.failed:
        raise ImageCorruptError(
            f"The image {name} failed its specification, and is not used.",
            details="\n".join(verdict.failed),
            resolution=f"Correct it and run `mesocosm image build {name}`, or "
            f"`mesocosm image verify {name}` if the failure was not its own.",
        )


def find_registered(name: str, settings: Settings) -> Path | None:
    """Return the copied folder of a custom image; None if there is none.

    Args:
        name: its name, as written by a user.
        settings: locate the copies.
    """
    if not name or "/" in name or "\0" in name or name.startswith("."):
        return None
    folder = settings.custom_images_dir / name / _CURRENT
    return folder if (folder / FILE).is_file() else None


def shipped_folders() -> dict[str, Path]:
    """Return the folders of images that come with this project and are built on request, by name."""
    found = (Path(__file__).parent / "shipped").glob(f"*/{FILE}")
    return {path.parent.name: path.parent for path in sorted(found)}


def registered_names(settings: Settings) -> list[str]:
    """Return the names of all custom images, sorted."""
    found = settings.custom_images_dir.glob(f"*/{_CURRENT}/{FILE}")
    return sorted(path.parent.parent.name for path in found)


def unfinished_names(settings: Settings) -> list[str]:
    """Return the names of custom images whose first build was interrupted or failed, sorted."""
    found = {path.parent.name for path in settings.custom_images_dir.glob("*/.lock")}
    return sorted(found - set(registered_names(settings)))


def parent_of(name: str, settings: Settings) -> str:
    """Return the variant that a registered image extends.

    Raises:
        ImageMissingError: there is no such image.
    """
    try:
        return (settings.custom_images_dir / name / _CURRENT / _PARENT).read_text().strip()
    except OSError as exc:
        raise ImageMissingError(
            f"There is no custom image called {name!r}.",
            resolution="Run `mesocosm image build FOLDER`.",
        ) from exc


def registered_recipe(name: str, settings: Settings) -> Recipe:
    """Return the recipe of a registered image.

    Raises:
        ImageMissingError: there is no such image.
        SpecError: this release does not understand its declaration.
    """
    from images.custom.folder import read_folder  # noqa: PLC0415 - only needed for custom images
    from images.custom.recipe import CustomDesktopRecipe  # noqa: PLC0415

    parent = parent_of(name, settings)
    place = (settings.custom_images_dir / name / _CURRENT).resolve()
    if (record := read_record(place)) is not None:
        return FixedRecipe(record)
    folder = read_folder(place)
    return CustomDesktopRecipe(settings, folder, parent)


def register(folder: ImageFolder, parent: str, settings: Settings, *, name: str = "") -> None:
    """Make a folder the current one of its name: machines are made of it from now on.

    A reader sees the old or the new copy, also if this process is killed.

    Args:
        folder: the image.
        parent: variant that it extends.
        settings: locate the copies.
        name: the image's name, if it has a tag; by default, that of its declaration.
    """
    place = settings.custom_images_dir / (name or folder.content.name)
    place.mkdir(parents=True, exist_ok=True)
    copy = Path(tempfile.mkdtemp(prefix=_COPY, dir=place))
    copy.chmod(0o755)
    ignored = shutil.ignore_patterns(*_SKIPPED)
    shutil.copytree(folder.path, copy, dirs_exist_ok=True, ignore=ignored)
    write_atomic(copy / _PARENT, f"{parent}\n")
    link = place / f".{copy.name}"
    link.symlink_to(copy.name)
    link.replace(place / _CURRENT)
    for other in (*place.glob(f"{_COPY}*"), *place.glob(f".{_COPY}*")):
        if other != copy:
            shutil.rmtree(other) if not other.is_symlink() else other.unlink()


def unregister(name: str, settings: Settings) -> None:
    """Forget a custom image and its folder; its built images stay.

    Raises:
        ImageMissingError: there is no such image.
    """
    if name not in unfinished_names(settings):
        parent_of(name, settings)
    (settings.custom_images_dir / name / _CURRENT).unlink(missing_ok=True)
    shutil.rmtree(settings.custom_images_dir / name)
