"""The record of a phone."""

from __future__ import annotations

from typing import Literal

from provisioning.machine_record import MachineRecord


class PhoneRecord(MachineRecord):
    """The record of a phone, whose container is found by the machine's id; `backend` is its profile."""

    backend: Literal["reference-phone", "android-emulator"]
