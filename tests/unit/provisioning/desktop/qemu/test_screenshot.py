"""Screenshots of the one domain of libvirt's own test hypervisor."""

from __future__ import annotations

import pytest

from foundation.errors import MachineError, RequirementError
from provisioning.desktop.qemu.screenshot import LibvirtScreen

HYPERVISOR = "test:///default"


def test_picture_is_streamed_completely() -> None:
    screen = LibvirtScreen(HYPERVISOR, "test")
    frame = screen.capture()
    again = screen.capture()
    screen.close()
    assert frame.shape[2] == 3
    assert min(frame.shape[:2]) > 100
    assert frame.min() < frame.max()
    assert (frame == again).all()


def test_unknown_domain_and_missing_hypervisor_are_distinguished() -> None:
    screen = LibvirtScreen(HYPERVISOR, "desktop-none")
    with pytest.raises(MachineError, match="desktop-none"):
        screen.capture()
    screen.close()
    with pytest.raises(RequirementError, match="does not answer"):
        LibvirtScreen("qemu+unix:///system?socket=/nowhere", "test")
