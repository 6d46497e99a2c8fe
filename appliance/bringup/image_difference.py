"""How two desktop images differ: packages, files, settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from appliance.bringup.fixed_images import read_fixed, require_image
from appliance.bringup.image_inventory import read_inventory
from foundation.errors import UsageError
from images.custom.guest_settings import GuestSettings
from images.custom.registered import find_registered, parent_of
from images.manifest import Manifest, read_manifest
from images.store import as_image, iter_manifests

if TYPE_CHECKING:
    from collections.abc import Mapping

    from appliance.bringup.image_inventory import FileRow, Inventory
    from foundation.settings import Settings
    from images.recipe import Image, Report

Change = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class PackageChange:
    """A package that differs.

    Attributes:
        name: its name.
        change: how it differs.
        version: version in the image; empty if it was removed.
        was: version in the other image; empty if it was added.
    """

    name: str
    change: Change
    version: str = ""
    was: str = ""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of /etc, /home, /usr/local or /opt that differs.

    Attributes:
        path: its path.
        change: how it differs: in content, mode or owner.
        size_bytes: size in the image; 0 if it was removed.
        was_bytes: size in the other image; 0 if it was added.
        mode: permission bits in the image, octal; empty if it was removed.
        owner: ``root`` or ``user``; empty if it was removed.
        link: target of a symbolic link; empty if it is none.
        package: the package that it belongs to; empty if none.
    """

    path: str
    change: Change
    size_bytes: int = 0
    was_bytes: int = 0
    mode: str = ""
    owner: str = ""
    link: str = ""
    package: str = ""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting of the user that differs.

    Attributes:
        path: its path in dconf.
        change: how it differs; a removed one has its default value again.
        value: GVariant text in the image; empty if unknown: only images that were saved by hand have it.
        schema: its GNOME schema; empty if unknown.
        key: its key in that schema.
    """

    path: str
    change: Change
    value: str = ""
    schema: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class ImageDifference:
    """How an image differs from another one, usually its parent.

    Attributes:
        image: the image.
        other: the other one.
        note: a remark on the choice of the other one; empty if there is none.
        packages: packages that differ.
        files: files that differ.
        settings: settings that differ.
    """

    image: Image
    other: Image
    note: str
    packages: tuple[PackageChange, ...]
    files: tuple[FileChange, ...]
    settings: tuple[SettingChange, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "image": {"name": self.image.label, "digest": self.image.digest},
            "other": {"name": self.other.label, "digest": self.other.digest},
            "note": self.note,
            "packages": [asdict(row) for row in self.packages],
            "files": [asdict(row) for row in self.files],
            "settings": [asdict(row) for row in self.settings],
        }


def compare_images(name: str, other: str, settings: Settings, report: Report) -> ImageDifference:
    """Compare two desktop images.

    Args:
        name: name of the image.
        other: name of the other one; empty for the image's parent.
        settings: locate the images.
        report: receives progress.

    Raises:
        UnknownNameError: there is no such image.
        UsageError: the image has no parent, and no other one is given.
        ImageError: one of them is not built.
        ToolError: a disk cannot be read.
    """
    image = require_image(name, settings)
    base, note = (
        _find_parent(image, settings) if not other else (require_image(other, settings), "")
    )
    after = read_inventory(image, settings, report)
    before = read_inventory(base, settings, report)
    return ImageDifference(
        image,
        base,
        note,
        _packages(read_manifest(base.path).packages, read_manifest(image.path).packages),
        _files(before, after),
        _settings(before.settings, after.settings, GuestSettings.read(image.path)),
    )


def _find_parent(image: Image, settings: Settings) -> tuple[Image, str]:
    """Return the image that another one was made from, and a remark if it is not exactly that one."""
    name = image.variant
    if find_registered(name, settings) is None:
        raise UsageError(
            f"{image.label} is a shipped image and has no parent.",
            resolution=f"Name another image: `mesocosm image diff {name} OTHER`.",
        )
    record = read_fixed(name, settings)
    if record is None:
        return require_image(parent_of(name, settings), settings), ""
    for folder, manifest in iter_manifests(settings.images_dir):
        if isinstance(manifest, Manifest) and manifest.image_digest == record.parent_digest:
            return as_image(manifest, folder), ""
    parent = require_image(record.parent, settings)
    return parent, (
        f"{parent.label} is not the one that {name} was made from, which is gone: the difference "
        "includes what was rebuilt since."
    )


def _packages(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[PackageChange, ...]:
    return tuple(
        PackageChange(name, _change(name, before, after), after.get(name, ""), before.get(name, ""))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    )


def _change(name: str, before: Mapping[str, object], after: Mapping[str, object]) -> Change:
    if name not in before:
        return "added"
    return "changed" if name in after else "removed"


def _files(before: Inventory, after: Inventory) -> tuple[FileChange, ...]:
    rows = []
    for path in sorted(before.files.keys() | after.files.keys()):
        old, new = before.files.get(path), after.files.get(path)
        if old == new:
            continue
        rows.append(
            FileChange(
                path,
                _change(path, before.files, after.files),
                size_bytes=new.size_bytes if new else 0,
                was_bytes=old.size_bytes if old else 0,
                mode=f"{new.mode:04o}" if new else "",
                owner=_owner(new),
                link=new.content.removeprefix("-> ") if new and new.is_link else "",
                package=after.packages.get(path) or before.packages.get(path, ""),
            )
        )
    return tuple(rows)


def _owner(row: FileRow | None) -> str:
    if row is None:
        return ""
    return "user" if row.is_user else "root"


def _settings(
    before: Mapping[str, str], after: Mapping[str, str], known: GuestSettings
) -> tuple[SettingChange, ...]:
    rows = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            schema, key = known.spell(path) or ("", "")
            value = known.values.get(path, "") if path in after else ""
            rows.append(SettingChange(path, _change(path, before, after), value, schema, key))
    return tuple(rows)
