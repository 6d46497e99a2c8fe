"""Copies of the folders of custom images that were built, by name.

::

    <custom_images_dir>/<name>/image/         a copy of the folder
    <custom_images_dir>/<name>/parent.txt     what it extends: a shipped desktop or another name
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.custom.declaration import FILE

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings

FOLDER = "image"


def find_registered(name: str, settings: Settings) -> Path | None:
    """Return the folder of a custom image that was built; None if there is none.

    Args:
        name: its name, as written by a user.
        settings: locate the copies.
    """
    if not name or "/" in name or "\0" in name or name.startswith("."):
        return None
    folder = settings.custom_images_dir / name / FOLDER
    return folder if (folder / FILE).is_file() else None


def registered_names(settings: Settings) -> list[str]:
    """Return the names of all custom images that were built, sorted."""
    found = settings.custom_images_dir.glob(f"*/{FOLDER}/{FILE}")
    return sorted(path.parent.parent.name for path in found)
