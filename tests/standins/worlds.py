"""A fleet of worlds that is apart from the appliance's, with the appliance's images."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from foundation.settings import Settings, get_settings
from images.builder import Builder
from provisioning.fleet.local import LocalFleet
from provisioning.phone.adb.server import AdbServer
from provisioning.resource import WORLD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def world_fleet(state_dir: Path) -> Iterator[LocalFleet]:
    """Return a fleet whose worlds, containers and network are removed at the end of the block."""
    source = get_settings()
    Builder(source).ensure("hypervisor", repair=True)
    Builder(source).ensure(WORLD, repair=True)
    for name, folder in (("images", source.images_dir), ("keys", source.keys_dir)):
        (state_dir / name).symlink_to(folder)
    settings = Settings(state_dir=state_dir)
    fleet = LocalFleet(settings)
    try:
        yield fleet
    finally:
        fleet.remove_all()
        AdbServer(settings).stop()
