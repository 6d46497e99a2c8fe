"""Remove a custom image with everything that was made of it."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from typing import TYPE_CHECKING

from appliance.bringup.custom_image import remove_old_trees
from foundation.errors import MachineBusyError
from foundation.files import locked
from images.custom.layers import LayerStore
from images.custom.recipe import DESKTOP
from images.custom.registered import parent_of, registered_names, unregister
from images.engine import connect, find_image
from images.log import ignore_progress
from images.manifest import Manifest
from images.store import iter_manifests, remove_folder
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.desktop.qemu.template import remove_templates_of
from provisioning.machine_folder import iter_folders
from provisioning.resource import ResourceSpec

if TYPE_CHECKING:
    from foundation.settings import Settings

_KINDS = (DESKTOP, "desktop-container")


def remove_custom_image(name: str, settings: Settings, *, is_locked: bool = False) -> list[str]:
    """Remove a custom image: machines, templates, disks, containers' images, layers, its folder.

    Args:
        name: its name.
        settings: of the appliance.
        is_locked: whether the caller holds the image's lock.

    Returns:
        What was removed, one text each.

    Raises:
        MachineBusyError: one of its machines is in use, or another image extends it.
        ImageMissingError: there is no such image.
    """
    children = [other for other in registered_names(settings) if parent_of(other, settings) == name]
    if children:
        raise MachineBusyError(
            f"The image {name} is the parent of {', '.join(children)}.",
            resolution=f"Run `mesocosm image remove {' '.join(children)}` first.",
        )
    place = settings.custom_images_dir / name
    with nullcontext() if is_locked else locked(place / ".lock", what=f"The image {name}"):
        removed = _remove_machines(name, settings)
        labels = {f"{kind}:{name}" for kind in _KINDS}
        removed += [f"template {path}" for path in remove_templates_of(settings, labels)]
        for folder, manifest in iter_manifests(settings.images_dir):
            if isinstance(manifest, Manifest) and f"{manifest.name}:{manifest.variant}" in labels:
                if manifest.docker_tag:
                    with connect(doing="remove an image") as client:
                        if find_image(client, manifest.docker_tag):
                            client.images.remove(manifest.docker_tag)
                remove_folder(folder)
                removed.append(f"image {manifest.image_digest[:12]}")
        store = LayerStore(settings.owner, name, ignore_progress)
        store.remove_leftovers()
        removed += [f"layer {tag}" for tag in store.remove_others([])]
        unregister(name, settings)
    shutil.rmtree(place, ignore_errors=True)
    return removed + [f"layer {tag}" for tag in remove_old_trees(settings)]


def _remove_machines(name: str, settings: Settings) -> list[str]:
    backend = QemuBackend(settings, ResourceSpec(DESKTOP, name))
    labels = {f"{kind}:{name}" for kind in _KINDS}
    removed = []
    for folder in iter_folders(settings):
        record = folder.read()
        if record is None or record.image not in labels:
            continue
        claim = folder.require_claim()
        try:
            backend.remove_by_id(folder.machine_id)
            folder.remove()
        finally:
            claim.release()
        removed.append(f"machine {folder.machine_id}")
    return removed
