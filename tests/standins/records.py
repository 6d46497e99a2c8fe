"""Records of fictitious machines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from provisioning.machine_record import parse_record

if TYPE_CHECKING:
    from provisioning.machine_record import MachineRecord

_DESKTOP = {
    "kind": "desktop",
    "image": "desktop:debian-12",
    "image_digest": "0" * 64,
    "accelerator": "none",
    "user": "user",
    "home": "/home/user",
}
_OF_BACKEND: dict[str, dict[str, object]] = {
    "libvirt": {
        "accelerator": "tcg",
        "memory_mib": 3072,
        "cpus": 2,
        "ssh_port": 20022,
        "mac": "52:54:00:00:00:01",
    },
    "remote": {"remote": "lab-1"},
}


def desktop_record(machine_id: str, backend: str = "libvirt", **values: object) -> MachineRecord:
    """Return the record of a desktop of a backend."""
    fields = {**_DESKTOP, **_OF_BACKEND.get(backend, {}), **values}
    data = {"machine_id": machine_id, "backend": backend, **fields}
    return parse_record(json.dumps(data, default=str).encode())
