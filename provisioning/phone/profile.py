"""What differs between the phones that one provider drives: the reference phone, the emulator."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from appliance.base.errors import RequirementError, UnknownNameError

KVM = Path("/dev/kvm")
_FOLDERS = "/sdcard/ /data/local/tmp/"


@dataclass(frozen=True, slots=True)
class PhoneProfile:
    """One sort of phone.

    Attributes:
        backend: marks results; see `provisioning.protocols.MachineInfo`.
        image: name of its recipe.
        accelerator: ``kvm`` or ``none``.
        devices: of the host, that its container needs.
        memory_mib: limit of its container.
        has_volume: whether its state is a volume at ``/data`` and all else is read-only; else
            the container's own layer holds it.
        start_timeout_s: until console and ADB take commands.
        snapshot_timeout_s: of one save or load.
        digest_commands: whose output tells whether a rewind brought everything back; each must
            print the same for the same state, whenever it is asked.
        checks_processes: whether shells' processes are no part of a snapshot, and so none may
            run after a rewind.
    """

    backend: Literal["reference-phone", "android-emulator"]
    image: str
    accelerator: str = "none"
    devices: tuple[Path, ...] = ()
    memory_mib: int = 384
    has_volume: bool = True
    start_timeout_s: float = 60.0
    snapshot_timeout_s: float = 60.0
    digest_commands: tuple[str, ...] = field(default=())
    checks_processes: bool = True

    def require(self) -> None:
        """Check that the host has what it needs.

        Raises:
            RequirementError: it lacks a device.
        """
        for device in self.devices:
            if not device.exists():
                raise RequirementError(
                    f"A phone of the sort {self.backend} needs {device}, which this host lacks.",
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
        # What only the reference phone has: rows no screen shows, such as the back stack's fields.
        "content query --uri content://com.google.android.apps.tasks/tasks",
        "dumpsys reference_phone",
        f"find {_FOLDERS} -type f -exec sha256sum {{}} +; find {_FOLDERS} ! -type f",
    ),
)
"""Mesocosm's own phone, which needs nothing of the host."""

EMULATOR = PhoneProfile(
    backend="android-emulator",
    image="android",
    accelerator="kvm",
    devices=(KVM,),
    memory_mib=6144,
    has_volume=False,
    start_timeout_s=300.0,
    snapshot_timeout_s=180.0,
    # Android lives on between two looks: only what stands still by itself is compared.
    digest_commands=(
        "pm list packages",
        "settings list system",
        "dumpsys activity activities | grep -o 'topResumedActivity=.* u0 [^ ]*' | grep -o '[^ ]*$'",
        "content query --uri content://com.android.contacts/data --projection _id:data1",
        "content query --uri content://sms --projection _id:body",
        f"find {_FOLDERS} -type f -exec sha256sum {{}} +; find {_FOLDERS} ! -type f",
    ),
    checks_processes=False,
)
"""Google's emulator, which needs KVM and an image that its user has built."""

PROFILES = {"reference": REFERENCE, "emulator": EMULATOR}
"""By the value of the setting ``phone``."""


def profile_of(backend: str) -> PhoneProfile:
    """Return the profile of a machine's record.

    Raises:
        UnknownNameError: there is none.
    """
    for profile in PROFILES.values():
        if profile.backend == backend:
            return profile
    raise UnknownNameError.of(
        "sort of phone", backend, [phone.backend for phone in PROFILES.values()]
    )
