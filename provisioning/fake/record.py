"""The record of an in-memory machine, for tests."""

from __future__ import annotations

from typing import Literal

from provisioning.machine_record import MachineRecord


class FakeRecord(MachineRecord):
    """The record of a fake machine that has a folder."""

    backend: Literal["fake"] = "fake"
    user: str = "user"
    home: str = "/home/user"
