"""What snapshots make necessary, in the guest.

Before one is saved, give memory back; after one was loaded, set the clock, stir the random pool
and, in a fork, become a machine of its own.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
import time
from typing import TYPE_CHECKING

from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from provisioning.probe.params import Params

# Source: Linux, include/uapi/linux/random.h: _IOW('R', 0x03, int[2]) and _IO('R', 0x07).
_RNDADDENTROPY = 0x40085203
_RNDRESEEDCRNG = 0x5207
# Source: Linux, include/uapi/linux/sockios.h and if_arp.h.
_SIOCSIFHWADDR = 0x8924
_ARPHRD_ETHER = 1
_NETWORK_CARDS = "/sys/class/net"
_MACHINE_ID = "/etc/machine-id"
_HOST_KEY = "/etc/ssh/ssh_host_ed25519_key"


def set_clock(params: Params, *, since_s: float | None = None) -> dict[str, float]:
    """Set the real-time clock to ``unix_s``; give what it shows then.

    Args:
        params: of the request.
        since_s: monotonic time when ``unix_s`` was true; now when None.
    """
    passed_s = 0.0 if since_s is None else time.monotonic() - since_s
    time.clock_settime(time.CLOCK_REALTIME, params.number("unix_s") + passed_s)
    return {"clock_s": time.time()}


def reseed(params: Params) -> None:
    """Credit ``seed_b64`` to the kernel's random pool and make it draw from the pool anew."""
    seed = params.data("seed_b64")
    request = struct.pack("ii", len(seed) * 8, len(seed)) + seed
    with open("/dev/urandom", "wb") as pool:
        fcntl.ioctl(pool, _RNDADDENTROPY, request)
        fcntl.ioctl(pool, _RNDRESEEDCRNG)


# Source: Linux, include/uapi/asm-generic/mman-common.h.
_MAP_NORESERVE = 0x4000
_MADV_POPULATE_WRITE = 23
_SPARED_KIB = 96 * 1024
_TRIM_TIMEOUT_S = 60.0
_TAKE_ALL = f"""
import mmap, re
with open("/proc/self/oom_score_adj", "w") as file:
    file.write("1000")
free = int(re.search(r"MemFree:\\s+(\\d+)", open("/proc/meminfo").read())[1]) - {_SPARED_KIB}
if free > 0:
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | {_MAP_NORESERVE}
    memory = mmap.mmap(-1, free << 10, flags=kind)
    memory.madvise(mmap.MADV_HUGEPAGE)
    memory.madvise({_MADV_POPULATE_WRITE})
"""


def trim(_params: Params) -> None:
    """Drop caches and fill what is free with zeros: a snapshot has less to save and to load."""
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")
    # The kernel clears what it hands out. A program of its own, which is the one to end should
    # memory run out, gives it all back at its end.
    argv = ["/usr/bin/python3", "-I", "-c", _TAKE_ALL]
    subprocess.run(argv, check=False, timeout=_TRIM_TIMEOUT_S)


def become(params: Params) -> None:
    """Take the identity of a fork: ``mac``, ``machine_id`` and the SSH host key pair."""
    _replace(_MACHINE_ID, params.text("machine_id").encode() + b"\n", 0o444)
    _replace(_HOST_KEY, params.data("host_key_b64"), 0o600)
    _replace(f"{_HOST_KEY}.pub", params.data("host_key_pub_b64"), 0o644)
    _set_mac(params.text("mac"))


def _replace(path: str, data: bytes, mode: int) -> None:
    """Write a file whole and then put it in place of the old one."""
    beside = f"{path}.new"
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(data)
    os.replace(beside, path)


def _set_mac(mac: str) -> None:
    """Give the one network card another address."""
    cards = sorted(
        name
        for name in os.listdir(_NETWORK_CARDS)
        if os.path.exists(f"{_NETWORK_CARDS}/{name}/device")
    )
    if not cards:
        raise ProbeError("failed", "this machine has no network card")
    # QEMU's network knows the old address until the card tells of the new one.
    with open(f"/proc/sys/net/ipv4/conf/{cards[0]}/arp_notify", "w", encoding="ascii") as file:
        file.write("1")
    address = bytes.fromhex(mac.replace(":", ""))
    request = struct.pack("16sH14s", cards[0].encode(), _ARPHRD_ETHER, address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _SIOCSIFHWADDR, request)


def boot_id() -> str:
    """Give the kernel's id of this boot; a rewind keeps it."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()
