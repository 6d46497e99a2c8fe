"""What a fork must not share with its template."""

from __future__ import annotations

import base64
import secrets
import uuid
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

_PORTS = range(20000, 30000)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a machine is.

    Attributes:
        mac: of its network card.
        machine_id: of ``/etc/machine-id``, 32 hexadecimal digits.
        host_key: private key of its SSH server, in OpenSSH's form.
        host_key_pub: the public half, as ``known_hosts`` has it.
    """

    mac: str
    machine_id: str
    host_key: bytes
    host_key_pub: str

    def for_probe(self) -> dict[str, str]:
        """Return the parameters of the probe's ``become``."""
        return {
            "mac": self.mac,
            "machine_id": self.machine_id,
            "host_key_b64": base64.b64encode(self.host_key).decode(),
            "host_key_pub_b64": base64.b64encode(f"{self.host_key_pub}\n".encode()).decode(),
        }


def new_identity(*, mac: str) -> Identity:
    """Draw one for the machine whose network card has this address."""
    key = Ed25519PrivateKey.generate()
    return Identity(
        mac=mac,
        machine_id=uuid.uuid4().hex,
        host_key=key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()),
        host_key_pub=key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode(),
    )


def new_port() -> int:
    """Draw the port of the hypervisor container that leads to a machine's SSH server."""
    return secrets.choice(_PORTS)


def new_mac() -> str:
    """Draw the address of a network card; QEMU's own prefix marks it as a virtual one."""
    return ":".join(f"{byte:02x}" for byte in (0x52, 0x54, 0, *secrets.token_bytes(3)))
