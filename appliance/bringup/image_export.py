"""Export an image of one's own to a file."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.bringup.fixed_images import is_hand_made, read_fixed, require_image
from appliance.bringup.image_file import (
    EXPORT,
    FOLDER,
    IMAGE,
    TEMPLATE,
    ExportRecord,
    Facts,
    member_names,
    path_of,
    write_file,
)
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import ImageBuildError, UnknownNameError, UsageError
from foundation.files import digest_file
from images.builder import check_image
from images.custom.fixed import DESKTOP
from images.custom.registered import find_registered, parent_of, read_verdict, registered_names
from images.manifest import FileEntry, read_manifest
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.desktop.qemu.template import find_template
from provisioning.resource import ResourceSpec

if TYPE_CHECKING:
    from foundation.settings import Settings
    from images.recipe import Report

PART = ".part"


def export_image(name: str, file: Path, settings: Settings, report: Report) -> ExportRecord:
    """Write a custom image to a file, with its memory state if it has one.

    Args:
        name: name of the image.
        file: file to create; if this fails or is interrupted, nothing is left.
        settings: locate the images.
        report: receives progress.

    Raises:
        UnknownNameError: there is no such custom image.
        UsageError: the file exists.
        ImageError: the image is not built, or corrupt; the file cannot be written.
        ToolMissingError: tar or zstd is missing.
    """
    place = find_registered(name, settings)
    if place is None:
        raise UnknownNameError.of("custom image", name, registered_names(settings))
    if file.exists():
        raise UsageError(f"{file} exists.", resolution="Remove it, or choose another name.")
    if not file.parent.is_dir():
        raise UsageError(f"There is no folder {file.parent}.", resolution="Create it.")
    image = require_image(name, settings)
    spec = ResourceSpec(DESKTOP, name)
    report("check", None, "reading the image")
    check_image(image.path, read_manifest(image.path), thorough=True)
    template = find_template(settings, QemuBackend(settings, spec, image=image).stamp())
    part = file.with_name(file.name + PART)
    try:
        with tempfile.TemporaryDirectory(prefix=".build-", dir=settings.images_dir) as work:
            staging = Path(work)
            (staging / IMAGE).symlink_to(image.path)
            (staging / FOLDER).symlink_to(place.resolve())
            if template is not None:
                (staging / TEMPLATE).symlink_to(template.path)
            fixed, verdict = read_fixed(name, settings), read_verdict(name, settings)
            record = ExportRecord(
                name=name,
                parent=parent_of(name, settings),
                digest=image.digest,
                is_hand_made=is_hand_made(image),
                id=fixed.id if fixed else "",
                exported_at=datetime.fromtimestamp(SYSTEM_CLOCK.now_s(), tz=UTC).isoformat(),
                facts=Facts.of_host(image, settings),
                stream=template.record.stream if template else None,
                passed=verdict.passed if verdict else (),
                members=_members(staging, image.path, report),
            )
            (staging / EXPORT).write_text(record.model_dump_json(indent=1) + "\n")
            used = sum(path_of(staging, each).stat().st_blocks * 512 for each in record.members)
            write_file(staging, part, used, report)
        part.replace(file)
    except OSError as exc:
        raise ImageBuildError(f"{file} could not be written.", details=str(exc)) from exc
    finally:
        part.unlink(missing_ok=True)
    return record


def _members(staging: Path, image: Path, report: Report) -> dict[str, FileEntry]:
    """Return size and digest of each member; those of the image's files were just verified."""
    known = read_manifest(image).files
    members = {}
    for name in member_names(staging):
        top, _, rest = name.partition("/")
        report("check", None, name)
        path = path_of(staging, name)
        entry = known.get(rest) if top == IMAGE else None
        members[name] = entry or FileEntry(size_bytes=path.stat().st_size, sha256=digest_file(path))
    return members
