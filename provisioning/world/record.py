"""The record of a world."""

from __future__ import annotations

from typing import Literal

from provisioning.machine_record import MachineRecord


class WorldRecord(MachineRecord):
    """The record of a world, whose container is found by the machine's id.

    Attributes:
        seed: seed of the persona that fills it.
    """

    backend: Literal["world"] = "world"
    seed: int
