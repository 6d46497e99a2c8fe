"""The identity of a machine, which a fork must not share with its template."""

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
    """The identity of a machine.

    Attributes:
        mac: MAC address of its network card.
        machine_id: content of ``/etc/machine-id``, 32 hexadecimal digits.
        host_key: private key of its SSH server, in OpenSSH format.
        host_key_pub: its public key, in ``known_hosts`` format.
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
    """Generate the identity of a machine whose network card has a MAC address."""
    key = Ed25519PrivateKey.generate()
    return Identity(
        mac=mac,
        machine_id=uuid.uuid4().hex,
        host_key=key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()),
        host_key_pub=key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode(),
    )


def new_port() -> int:
    """Return a random port of the hypervisor container for forwarding to a machine's SSH server."""
    return secrets.choice(_PORTS)


def new_mac() -> str:
    """Return a random MAC address with QEMU's prefix, which marks it as virtual."""
    return ":".join(f"{byte:02x}" for byte in (0x52, 0x54, 0, *secrets.token_bytes(3)))
