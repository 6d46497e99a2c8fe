"""Begins a session of streams on a VM's second virtio-serial port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.desktop.qemu.domain import STREAMS_CHANNEL
from provisioning.links.virtio import connect_port

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.links.virtio import SocketTransport
    from provisioning.protocols import Link

_GUEST_PORT = f"/dev/virtio-ports/{STREAMS_CHANNEL}"
_TIMEOUT_S = 30.0


def open_streams(path: Path, link: Link, nonce: bytes, *, name: str) -> SocketTransport:
    """Connect to a VM's port for streams, and let the probe begin a session there.

    The probe ends its previous session, which may be one that a snapshot contained.

    Args:
        path: path of the port's socket.
        link: link to the probe.
        nonce: what the guest's end begins with.
        name: name of the machine, for errors.

    Raises:
        LinkError: the guest does not answer, or its port cannot be opened.
    """
    transport = connect_port(path, name=name)
    try:
        params = {"port": _GUEST_PORT, "nonce": nonce.hex()}
        link.call("open_streams", params, timeout_s=_TIMEOUT_S)
    except BaseException:
        transport.close()
        raise
    return transport
