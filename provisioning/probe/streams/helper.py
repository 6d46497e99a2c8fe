"""The probe's helper process for streams: one session at a time over a virtio-serial port.

It is started before a snapshot is saved and waits for a request, so that a machine that was forked
or rewound listens at once. A session that a snapshot contains is ended by the next request.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from provisioning.probe.serving import worker
from provisioning.probe.streams.channels import SerialPort
from provisioning.probe.streams.hosts import HOSTS_FILE, HostsFile
from provisioning.probe.streams.session import GuestSession

if TYPE_CHECKING:
    from provisioning.probe.serving.params import Params

_JOIN_S = 10.0


class StreamsHelper:
    """The sessions of this process, one after the other."""

    def __init__(self) -> None:
        self._port: SerialPort | None = None
        self._thread: threading.Thread | None = None

    def open(self, params: Params) -> None:
        """End the current session and begin another; ``port``, ``nonce`` (hexadecimal), ``hosts``."""
        self._end()
        nonce = bytes.fromhex(params.text("nonce"))
        port = SerialPort(params.text("port"))
        hosts = HostsFile(params.text("hosts", HOSTS_FILE))
        self._port = port
        self._thread = threading.Thread(target=_run, args=(port, hosts, nonce), daemon=True)
        self._thread.start()

    def _end(self) -> None:
        if self._thread is not None and self._port is not None:
            self._port.end()
            self._thread.join(_JOIN_S)
        self._thread = self._port = None


def main() -> None:
    """Serve the probe's requests until it exits."""
    in_fd, out_fd = worker.claim_streams()
    helper = StreamsHelper()
    worker.serve({"open": helper.open, "warm": lambda _params: None}, in_fd, out_fd)


def _run(port: SerialPort, hosts: HostsFile, nonce: bytes) -> None:
    try:
        port.wait_for_host()
        GuestSession(port, hosts).run(nonce)
    except OSError as exc:
        sys.stderr.write(f"streams: a session ended: {exc}\n")
    finally:
        port.close()
