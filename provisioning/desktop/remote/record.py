"""The record of a remote desktop."""

from __future__ import annotations

from typing import Literal

from provisioning.machine_record import MachineRecord


class RemoteRecord(MachineRecord):
    """The record of a remote desktop.

    Attributes:
        remote: its name in ``remotes.yaml``.
    """

    backend: Literal["remote"] = "remote"
    remote: str
