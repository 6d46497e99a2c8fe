"""Chooses whether leases get a new fork or a rewound machine first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.accelerator.detection import known_accelerator

if TYPE_CHECKING:
    from foundation.settings import Settings


def forks_first(settings: Settings) -> bool:
    """Return whether every lease of a desktop gets a new fork.

    Under KVM, a fork is ready as soon as a rewound machine, and nothing of its last user remains in
    its process. Under TCG, each fork translates the guest's code anew, which a rewound QEMU keeps.

    Args:
        settings: decide, or leave it to the accelerator that was found for desktop VMs.
    """
    if settings.desktop_reset != "auto":
        return settings.desktop_reset == "fork"
    return settings.desktop == "vm" and known_accelerator(settings) == "kvm"
