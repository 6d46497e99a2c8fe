"""Profiles of the phones that one backend drives: the reference phone and the emulator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from foundation.errors import RequirementError, UnknownNameError
from images.android.recipe import SAVED
from images.android.requirements import KVM, MEMORY_MIB

if TYPE_CHECKING:
    from pathlib import Path

_FOLDERS = "/sdcard/ /data/local/tmp/"


@dataclass(frozen=True, slots=True)
class PhoneProfile:
    """A kind of phone.

    Attributes:
        backend: backend name in results; see `provisioning.protocols.MachineInfo`.
        image: name of its recipe.
        accelerator: ``kvm`` or ``none``.
        devices: devices of the host that its container needs.
        memory_mib: memory limit of its container.
        saved: folder of the image's files that containers read at ``/saved``; empty if there is none.
        is_read_only: whether only the volume at ``/data``, which holds the state, can be written.
        keeps_end_states: whether its state can leave its container.
        max_processes: limit of processes and threads of its container.
        stop_timeout_s: time that its programs have to end before they are killed.
        start_timeout_s: time limit until console and ADB accept commands.
        snapshot_timeout_s: time limit of one save or load.
        digest_commands: commands whose output verifies a rewind; each must always print the same
            output for the same state.
        has_names: whether names of services can be looked up, by a table that its console sets.
        checks_processes: whether snapshots exclude processes of shells, so that none may run after
            a rewind.
        is_suspended: whether a snapshot is that of a whole virtual machine: a rewind then breaks
            connections without closing them, sets the clock back, and leaves an old picture.
    """

    backend: Literal["reference-phone", "android-emulator"]
    image: str
    accelerator: str = "none"
    devices: tuple[Path, ...] = ()
    memory_mib: int = 384
    saved: str = ""
    is_read_only: bool = True
    keeps_end_states: bool = True
    max_processes: int = 512
    stop_timeout_s: int = 5
    start_timeout_s: float = 60.0
    snapshot_timeout_s: float = 60.0
    digest_commands: tuple[str, ...] = field(default=())
    has_names: bool = True
    checks_processes: bool = True
    is_suspended: bool = False

    def require(self) -> None:
        """Check that the host meets its requirements.

        Raises:
            RequirementError: the host lacks a device.
        """
        for device in self.devices:
            if not device.exists():
                raise RequirementError(
                    f"The phone backend {self.backend} needs {device}, which this host lacks.",
                    resolution="Use the reference phone: MESOCOSM_PHONE=reference.",
                )


REFERENCE = PhoneProfile(
    backend="reference-phone",
    image="phone",
    digest_commands=(
        "settings list system",
        "settings list secure",
        "settings list global",
        "dumpsys activity activities",
        "uiautomator dump /dev/tty",
        "content query --uri content://com.android.contacts/contacts",
        "content query --uri content://com.android.contacts/data",
        # State that only the reference phone has and no screen shows, such as the back stack.
        "content query --uri content://com.google.android.apps.tasks/tasks",
        "dumpsys reference_phone",
        f"find {_FOLDERS} -type f -exec sha256sum {{}} +; find {_FOLDERS} ! -type f",
    ),
)
"""Mesocosm's own phone, which has no special host requirements."""

EMULATOR = PhoneProfile(
    backend="android-emulator",
    image="android",
    accelerator="kvm",
    devices=(KVM,),
    memory_mib=MEMORY_MIB,
    saved=SAVED,
    is_read_only=False,
    keeps_end_states=False,
    max_processes=4096,
    stop_timeout_s=30,
    start_timeout_s=300.0,
    snapshot_timeout_s=180.0,
    is_suspended=True,
    # Android's state changes in the background: only state that does not change by itself is compared.
    digest_commands=(
        # Exists only in memory: a phone that has booted since has lost it.
        "getprop debug.mesocosm.saved",
        "pm list packages",
        "settings list system",
        "dumpsys activity activities | grep -o 'topResumedActivity=.* u0 [^ ]*' | grep -o '[^ ]*$'",
        "content query --uri content://com.android.contacts/data --projection _id:data1",
        "content query --uri content://sms --projection _id:body",
        f"find {_FOLDERS} -type f -exec sha256sum {{}} +; find {_FOLDERS} ! -type f",
    ),
    has_names=False,
    checks_processes=False,
)
"""Google's emulator, which needs KVM and an image that the user has built."""

PROFILES = {"reference": REFERENCE, "emulator": EMULATOR}
"""The profiles by value of the setting ``phone``."""


def profile_of(backend: str) -> PhoneProfile:
    """Return the profile of a machine's backend.

    Raises:
        UnknownNameError: there is no such backend.
    """
    for profile in PROFILES.values():
        if profile.backend == backend:
            return profile
    raise UnknownNameError.of(
        "phone backend", backend, [phone.backend for phone in PROFILES.values()]
    )
