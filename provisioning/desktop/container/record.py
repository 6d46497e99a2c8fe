"""The record of a desktop container."""

from __future__ import annotations

from typing import Literal

from provisioning.machine_record import MachineRecord


class ContainerRecord(MachineRecord):
    """The record of a desktop container, which is found by the machine's id."""

    backend: Literal["container"] = "container"
