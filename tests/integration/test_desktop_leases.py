"""Tests of leases of real desktop VMs: cancelled boots and unresponsive guests."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

import pytest

from foundation.cancel import CancelToken
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import CancelledError, LinkTimeoutError
from foundation.settings import get_settings
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.desktop.qemu.connection import Hypervisor
from provisioning.machine_folder import iter_folders
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from provisioning.desktop.qemu.machine import DesktopVm
    from provisioning.protocols import Json

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    NEEDS_APPLIANCE,
]

# A boot takes a minute under emulation, from the first instruction to SSH.
MAX_END_S = 20.0


def test_cancelled_boot_ends_at_once_and_leaves_nothing() -> None:
    settings, cancel = get_settings(), CancelToken()
    backend, hypervisor = QemuBackend(settings), Hypervisor(settings.libvirt_uri)
    before, domains = folders(), set(hypervisor.names())
    ended: list[type[Exception]] = []

    def make() -> None:
        try:
            backend.make(lambda _message: None, cancel=cancel).delete()
        except CancelledError as exc:
            ended.append(type(exc))

    thread = threading.Thread(target=make)
    thread.start()
    assert wait_until(lambda: set(hypervisor.names()) - domains, timeout_s=60.0, every_s=0.1)
    SYSTEM_CLOCK.sleep(2.0)  # it boots, and the thread waits for it
    start_s = SYSTEM_CLOCK.monotonic_s()
    cancel.cancel()
    thread.join(120.0)

    assert SYSTEM_CLOCK.monotonic_s() - start_s < MAX_END_S
    assert ended == [CancelledError]
    assert folders() <= before
    assert set(hypervisor.names()) <= domains


def folders() -> set[str]:
    return {folder.machine_id for folder in iter_folders(get_settings())}


@nightly("`make test` has guests that are killed or flood their link, in test_faults.py")
def test_unresponsive_guest_can_still_be_rewound() -> None:
    backend = QemuBackend(get_settings())
    handle = backend.start_standby(is_rehearsed=False)
    assert handle is not None
    with handle.temporary() as machine:
        backend.wake(machine)
        machine.snapshots.save("mine")
        for is_paused in (True, False):
            hang(machine)
            if is_paused:  # as between two leases, but not after a killed holder
                machine.pause()
            machine.release()
            assert machine.is_running() is not is_paused

            assert machine.reset_to("mine").path == "rewind"

            assert machine.is_running()
            assert machine.link.call("ping")


def hang(machine: DesktopVm) -> None:
    """Stop the probe and all programs of the guest."""
    stop: dict[str, Json] = {
        "argv": ["/bin/sh", "-c", "kill -STOP $PPID; kill -STOP -1"],
        "user": "root",
    }
    with contextlib.suppress(LinkTimeoutError):
        machine.link.call("exec", stop, timeout_s=2.0)
    with pytest.raises(LinkTimeoutError):
        machine.link.call("ping", timeout_s=2.0)
