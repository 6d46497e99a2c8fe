"""Build an image of a phone: a phone, its layers, its state saved, rewound and compared."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import UnsupportedError
from foundation.files import locked
from images.custom.phone import (
    PHONE,
    STATE,
    PhoneProduct,
    as_row,
    copy_for_build,
    find_phone_image,
    forget_phone_image,
    make_current,
    phone_image_names,
    phone_images_dir,
    read_phone_image,
    require_supported,
)
from provisioning.machine_folder import iter_folders
from provisioning.phone.reference.backend import PhoneBackend
from provisioning.protocols import READY
from provisioning.registry import load, registry
from provisioning.resource import ResourceSpec

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings
    from images.custom.phone import PhoneImage
    from images.recipe import Report
    from provisioning.phone.reference.machine import ReferencePhone

REWINDS = 3
"""How often a new phone is rewound and compared with its snapshot."""


@dataclass(frozen=True, slots=True)
class BuiltPhone:
    """An image of a phone that phones are made of.

    Attributes:
        image: the image.
        digest: its digest.
        seconds: duration of the build; 0 if it was current.
        machine_id: the phone that was made; empty if it was current.
    """

    image: PhoneImage
    digest: str
    seconds: float = 0.0
    machine_id: str = ""


def build_phone_image(
    folder: Path, settings: Settings, report: Report, *, force: bool = False
) -> BuiltPhone:
    """Build the image of a folder; until it is complete, the previous one of its name stays.

    Args:
        folder: the folder.
        settings: of the appliance; they choose the kind of phone.
        report: receives progress.
        force: build it even if it is current.

    Raises:
        SpecError: the declaration is invalid, or needs another kind of phone.
        ActionError: the phone refused a layer.
        MesocosmError: the phone does not start, or does not rewind.
    """
    report("check", None, f"reading {folder}")
    image = read_phone_image(folder, settings)
    base = phone_backend(settings)
    profile = base.profile
    require_supported(image, profile.backend)
    with locked(phone_images_dir(settings) / image.name / ".lock", what=f"The image {image.name}"):
        base.require_host()
        digest = image.digest(base.image.digest)
        if not force and (current := find_phone_image(image.name, settings)):
            made = current.product
            if made and (made.digest, made.backend) == (digest, profile.backend):
                return BuiltPhone(current, digest)
        start_s = SYSTEM_CLOCK.monotonic_s()
        copy = copy_for_build(image, settings)
        try:
            machine_id = _make(base, replace(image, path=copy), report)
            seconds = SYSTEM_CLOCK.monotonic_s() - start_s
            product = PhoneProduct(
                base=base.image.digest,
                backend=profile.backend,
                digest=digest,
                built_at=datetime.fromtimestamp(SYSTEM_CLOCK.now_s(), tz=UTC).isoformat(),
                seconds=round(seconds, 3),
            )
            make_current(copy, product)
        except BaseException:
            shutil.rmtree(copy, ignore_errors=True)
            raise
    return BuiltPhone(read_phone_image(copy, settings), digest, seconds, machine_id)


def phone_backend(settings: Settings) -> PhoneBackend:
    """Return the backend of phones that settings choose.

    Raises:
        UnsupportedError: its phones have no layers.
    """
    entry = registry(settings.extensions).chosen(PHONE, settings)
    backend = load(entry.backend)(settings, ResourceSpec(PHONE))
    if not isinstance(backend, PhoneBackend):
        raise UnsupportedError(f"Phones of the backend {entry.name!r} have no images of one's own.")
    return backend


def _make(base: PhoneBackend, image: PhoneImage, report: Report) -> str:
    """Make a phone with all layers, save its state into the image, and return its id."""
    backend = base.with_image(image)
    handle = backend.make(lambda line: report("phone", None, line))
    try:
        for number in range(REWINDS):
            report("rewind", number / REWINDS, f"rewind {number + 1} of {REWINDS}")
            handle.machine.snapshots.rewind(READY)
        if base.profile.keeps_end_states:
            _save_state(handle.machine, image.path, report)
    except BaseException:
        handle.delete()
        raise
    handle.release()
    return handle.folder.machine_id


def _save_state(phone: ReferencePhone, copy: Path, report: Report) -> None:
    report("save", None, "saving its state")
    state = copy / STATE
    state.mkdir()
    phone.keep_state(state)
    phone.snapshots.rewind(READY)


def remove_phone_image(name: str, settings: Settings) -> list[str]:
    """Remove an image of a phone, and its phones; return what was removed, one text each.

    Raises:
        MachineBusyError: one of its phones is in use.
    """
    with locked(phone_images_dir(settings) / name / ".lock", what=f"The image {name}"):
        removed = []
        for folder in iter_folders(settings):
            record = folder.read()
            if record is None or (record.kind, record.image.partition(":")[2]) != (PHONE, name):
                continue
            claim = folder.require_claim()
            try:
                phone_backend(settings).attach(folder, record).delete()
            finally:
                claim.release()
            removed.append(f"phone {folder.machine_id}")
        forget_phone_image(name, settings)
    return [*removed, f"image {name}"]


def phone_rows(settings: Settings) -> list[dict[str, object]]:
    """Return a row for each image of a phone."""
    images = [find_phone_image(name, settings) for name in phone_image_names(settings)]
    return [dict(as_row(image)) for image in images if image is not None]
