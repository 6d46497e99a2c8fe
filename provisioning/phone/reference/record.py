"""What is kept of a phone."""

from __future__ import annotations

from typing import Literal

from provisioning.machine_record import BaseRecord


class PhoneRecord(BaseRecord):
    """The record of a phone, which is found by the machine's id; its backend tells the profile."""

    backend: Literal["reference-phone", "android-emulator"]
