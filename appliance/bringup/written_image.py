"""Write down how an image differs from another one, as a start of an ``image.yaml``."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from appliance.bringup.image_inventory import TREES, unpacked
from foundation.errors import MesocosmError, UsageError
from foundation.files import write_atomic
from images.custom.archive import PackageArchive
from images.custom.declaration import FILE, SCHEMA_VERSION
from images.custom.fixed import split_reference
from images.custom.folder import SHIPPED
from images.distribution import get_distribution
from images.manifest import read_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from appliance.bringup.image_difference import FileChange, ImageDifference
    from foundation.settings import Settings
    from images.recipe import Report

_FILES = "files"
_OWN_PLACES = ("/home/user/", "/etc/", "/usr/local/", "/opt/")


@dataclass
class _Text:
    """The lines of an ``image.yaml``."""

    lines: list[str] = field(default_factory=list)
    has_steps: bool = False

    def add_step(self, text: str) -> None:
        """Add a step, whose lines are indented already except for the first."""
        if not self.has_steps:
            self.lines.append("steps:")
            self.has_steps = True
        self.lines.append(f"  - {text}")

    def remark(self, text: str) -> None:
        """Add a comment."""
        self.lines.append(f"{'  ' * self.has_steps}# {text}")


def write_down(
    difference: ImageDifference,
    settings: Settings,
    report: Report,
    *,
    folder: Path | None = None,
) -> str:
    """Return an ``image.yaml`` that makes the image from the other one, as far as it can be written.

    What has no step (an unknown package, a link, a setting without a value) is a comment.

    Args:
        difference: what differs.
        settings: locate the archives and images.
        report: receives progress.
        folder: where to write the file, and a copy of each file that differs; without one, those are
            comments.

    Raises:
        UsageError: the folder exists.
        ToolError: the disk cannot be read.
    """
    if folder is not None and folder.exists():
        raise UsageError(f"{folder} exists.", resolution="Name a folder that does not exist.")
    text = _Text(_head(difference))
    _add_packages(text, difference, settings, report)
    files = [row for row in difference.files if _is_own(row, difference)]
    copied = [row for row in files if row.change != "removed" and not row.link]
    if folder is not None:
        _copy_files(difference, copied, settings, report, folder)
    _add_files(text, copied, is_written=folder is not None)
    for row in files:
        if row.link:
            text.add_step(f"run: {json.dumps(f'ln -sfn {row.link} {row.path}')}")
    if gone := [row.path for row in files if row.change == "removed"]:
        text.add_step(f"run: {json.dumps('rm -f ' + ' '.join(gone))}")
    _add_settings(text, difference)
    content = "\n".join(text.lines) + "\n"
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / FILE, content)
    return content


def _head(difference: ImageDifference) -> list[str]:
    image, other = difference.image, difference.other
    base, tag = (
        split_reference(image.variant) if image.variant not in SHIPPED else (image.variant, "")
    )
    name = "-".join(part for part in (base, tag.lower().replace(".", "-"), "written") if part)
    description = f"Written down from {image.label} {image.digest[:12]}."
    return [
        f"schema_version: {SCHEMA_VERSION}",
        f"name: {json.dumps(name)}",
        f"extends: {json.dumps(other.variant)}",
        f"description: {json.dumps(description)}",
    ]


def _add_packages(
    text: _Text, difference: ImageDifference, settings: Settings, report: Report
) -> None:
    distribution = get_distribution(read_manifest(difference.other.path).notes["distribution"])
    added = [row for row in difference.packages if row.change == "added"]
    known: frozenset[str] | None = None
    if added:
        try:
            known = PackageArchive(distribution, settings, report).names()
        except MesocosmError as exc:
            text.remark(f"The names of packages were not checked: {exc.brief}")
    if names := [row.name for row in added if known is None or row.name in known]:
        text.add_step(f"packages: [{', '.join(names)}]")
    removed = [row.name for row in difference.packages if row.change == "removed"]
    if removed:
        text.add_step(f"run: {json.dumps('dpkg --purge ' + ' '.join(removed))}")
    for row in difference.packages:
        if row.change == "added" and known is not None and row.name not in known:
            text.remark(
                f"Package {row.name} {row.version} is not in the archive of {distribution.name}: add "
                "its file as `debs`."
            )
        elif row.change == "changed":
            text.remark(f"Package {row.name}: {row.was} → {row.version}")


def _is_own(row: FileChange, difference: ImageDifference) -> bool:
    """Return whether a file does not come or go with a package."""
    changed = {package.name for package in difference.packages}
    return row.package not in changed and row.path.startswith(_OWN_PLACES)


def _add_files(text: _Text, rows: list[FileChange], *, is_written: bool) -> None:
    lines = [
        f"      - {{from: {json.dumps(_FILES + row.path)}, to: {json.dumps(row.path)}, "
        f'owner: {row.owner}, mode: "0{row.mode[-3:]}"}}'
        for row in rows
    ]
    if not lines:
        return
    if is_written:
        text.add_step("files:")
        text.lines += lines
        return
    text.remark("Files that differ; `--to FOLDER` writes them beside the image.yaml:")
    for row in rows:
        text.remark(f"{row.path} ({row.size_bytes} bytes, {row.owner}, {row.mode})")


def _copy_files(
    difference: ImageDifference,
    rows: list[FileChange],
    settings: Settings,
    report: Report,
    folder: Path,
) -> None:
    if not rows:
        return
    with unpacked(difference.image, settings, report, TREES) as root:
        for row in rows:
            target = folder / _FILES / row.path.strip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / row.path.strip("/"), target)


def _add_settings(text: _Text, difference: ImageDifference) -> None:
    by_schema: dict[str, list[str]] = {}
    for row in difference.settings:
        if row.change != "removed" and row.schema and row.value:
            value = f"{{gvariant: {json.dumps(row.value, ensure_ascii=False)}}}"
            by_schema.setdefault(row.schema, []).append(f"{row.key}: {value}")
        else:
            text.remark(f"Setting {row.path}: {row.change} {row.value}".rstrip())
    if by_schema:
        text.add_step("settings:")
        for schema, values in sorted(by_schema.items()):
            text.lines.append(f"      {schema}: {{{', '.join(values)}}}")
