"""Shared fixtures of integration tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.errors import MesocosmError
from foundation.settings import get_settings
from images.builder import Builder
from images.engine import connect
from provisioning.protocols import READY
from tests.standins.saved_desktop import lease_saved_desktop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from images.recipe import Image
    from provisioning.desktop.qemu.machine import DesktopVm


@pytest.fixture(scope="session")
def base() -> Image:
    """Return the appliance's base image; build it if it does not exist."""
    try:
        with connect(5):
            pass
    except MesocosmError as exc:
        pytest.skip(exc.brief)
    return Builder(get_settings()).ensure("base", repair=True)


@pytest.fixture(scope="module")
def leased_vm() -> Iterator[DesktopVm]:
    """Lease the appliance's desktop; its next lease reverts all changes of tests."""
    with lease_saved_desktop(get_settings()) as machine:
        yield machine


@pytest.fixture
def vm(leased_vm: DesktopVm) -> DesktopVm:
    """Return the desktop as it was saved."""
    leased_vm.start()
    leased_vm.snapshots.rewind(READY)
    return leased_vm
