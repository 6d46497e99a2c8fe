"""Operations in the guest that snapshots require.

Before a snapshot is saved, free memory; after it is loaded, set the clock, reseed the random pool
and, in a fork, apply a new machine identity.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import socket
import struct
import subprocess
import time

from provisioning.probe.errors import ProbeError
from provisioning.probe.serving.params import Params, to_base64

# Source: Linux, include/uapi/linux/random.h: _IOW('R', 0x03, int[2]) and _IO('R', 0x07).
_RNDADDENTROPY = 0x40085203
_RNDRESEEDCRNG = 0x5207
# Source: Linux, include/uapi/linux/sockios.h and if_arp.h.
_SIOCSIFHWADDR = 0x8924
_ARPHRD_ETHER = 1
_NETWORK_CARDS = "/sys/class/net"
_MACHINE_ID = "/etc/machine-id"
_HOST_KEY = "/etc/ssh/ssh_host_ed25519_key"
_LINKS = "/usr/local/lib/mesocosm"


def set_clock(params: Params, *, since_s: float | None = None) -> dict[str, float]:
    """Set the real-time clock to ``unix_s`` and return its new time.

    Args:
        params: parameters of the request.
        since_s: monotonic time at which ``unix_s`` was valid; None for now.
    """
    passed_s = 0.0 if since_s is None else time.monotonic() - since_s
    time.clock_settime(time.CLOCK_REALTIME, params.number("unix_s") + passed_s)
    return {"clock_s": time.time()}


def reseed(params: Params) -> None:
    """Credit ``seed_b64`` to the kernel's random pool and make the generator reseed from it."""
    seed = params.data("seed_b64")
    request = struct.pack("ii", len(seed) * 8, len(seed)) + seed
    pool = os.open("/dev/urandom", os.O_WRONLY)
    try:
        fcntl.ioctl(pool, _RNDADDENTROPY, request)
        fcntl.ioctl(pool, _RNDRESEEDCRNG)
    finally:
        os.close(pool)


# Source: Linux, include/uapi/asm-generic/mman-common.h.
_MAP_NORESERVE = 0x4000
_MADV_POPULATE_WRITE = 23
_SEED_BYTES = 64
_SYSTEMCTL = "/usr/bin/systemctl"
# They end after being idle for a while; if a snapshot contained them, they would end after each
# reset.
_STOPPABLE_UNITS = (
    *("user@0.service", "systemd-hostnamed.service"),
    *("systemd-localed.service", "systemd-timedated.service"),
)
_SPARED_KIB = 96 * 1024
# Small pages come from memory that was used before: this clears two thirds of a booted desktop's
# freed memory in 4 s under emulation; clearing all free memory takes 11 s, mostly for memory that
# was never used.
_TAKEN_KIB = 700 * 1024
_TRIM_TIMEOUT_S = 60.0
_TAKE = f"""
import mmap, re
with open("/proc/self/oom_score_adj", "w") as file:
    file.write("1000")
free = int(re.search(r"MemFree:\\s+(\\d+)", open("/proc/meminfo").read())[1]) - {_SPARED_KIB}
if free > 0:
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | {_MAP_NORESERVE}
    memory = mmap.mmap(-1, min(free, {_TAKEN_KIB}) << 10, flags=kind)
    memory.madvise({_MADV_POPULATE_WRITE})
"""


def trim(_params: Params) -> None:
    """Drop caches and zero most of the freed memory, so that snapshots are smaller.

    The caches that a reset needs are filled again at the end.
    """
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            [_SYSTEMCTL, "stop", *_STOPPABLE_UNITS],
            check=False,
            stderr=subprocess.DEVNULL,
            timeout=_TRIM_TIMEOUT_S,
        )
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")
    # The kernel clears the memory that it allocates. A separate program, the first to be killed if
    # memory runs out, frees it all at its exit.
    argv = ["/usr/bin/python3", "-I", "-c", _TAKE]
    subprocess.run(argv, check=False, timeout=_TRIM_TIMEOUT_S)
    with contextlib.suppress(OSError, ProbeError):
        _rehearse()


def _rehearse() -> None:
    """Apply the machine's current identity, so that the next time nothing is read from the disk."""
    seed = to_base64(os.urandom(_SEED_BYTES))
    reseed(Params({"seed_b64": seed}, _TRIM_TIMEOUT_S))
    own = {
        "machine_id": _read(_MACHINE_ID).decode("ascii").strip(),
        "host_key_b64": to_base64(_read(_HOST_KEY)),
        "host_key_pub_b64": to_base64(_read(f"{_HOST_KEY}.pub")),
        "mac": _read(f"{_NETWORK_CARDS}/{_card()}/address").decode("ascii").strip(),
    }
    become(Params(own, _TRIM_TIMEOUT_S))
    set_clock(Params({"unix_s": time.time()}, _TRIM_TIMEOUT_S))


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def prepare_identity() -> None:
    """Prepare for `become`: create a second name of the files it writes, in a folder of the probe.

    Many programs of a desktop watch ``/etc``. Writing a file by another name does not wake them;
    under emulation, they would use processor time just when a fork is being verified.
    """
    for path in (_MACHINE_ID, _HOST_KEY, f"{_HOST_KEY}.pub"):
        with contextlib.suppress(OSError):
            os.makedirs(_LINKS, mode=0o700, exist_ok=True)
            if not _is_same(path, _second_name(path)):
                os.link(path, f"{_second_name(path)}.new")
                os.replace(f"{_second_name(path)}.new", _second_name(path))
    with contextlib.suppress(OSError, ProbeError):
        _announce_addresses(_card())


def _announce_addresses(card: str) -> None:
    """Announce the new address of the card; until then, QEMU's network uses the old one."""
    with open(f"/proc/sys/net/ipv4/conf/{card}/arp_notify", "w", encoding="ascii") as file:
        file.write("1")


def become(params: Params) -> None:
    """Apply the identity of a fork: ``mac``, ``machine_id`` and the SSH host key pair."""
    _write(_MACHINE_ID, params.text("machine_id").encode() + b"\n")
    _write(_HOST_KEY, params.data("host_key_b64"))
    _write(f"{_HOST_KEY}.pub", params.data("host_key_pub_b64"))
    _set_mac(params.text("mac"))


def _write(path: str, data: bytes) -> None:
    """Replace a file's content; the guest has only just resumed, so nobody reads it meanwhile."""
    second = _second_name(path)
    fd = os.open(second if _is_same(path, second) else path, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        if os.fstat(fd).st_size != len(data):
            os.ftruncate(fd, len(data))
        os.pwrite(fd, data, 0)
    finally:
        os.close(fd)


def _second_name(path: str) -> str:
    return f"{_LINKS}/{os.path.basename(path)}"


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.lstat(other))
    except OSError:
        return False


def _set_mac(mac: str) -> None:
    """Set the MAC address of the only network card."""
    address = bytes.fromhex(mac.replace(":", ""))
    request = struct.pack("16sH14s", _card().encode(), _ARPHRD_ETHER, address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _SIOCSIFHWADDR, request)


@functools.lru_cache(maxsize=None)
def _card() -> str:
    """Return the name of the only network card.

    Raises:
        ProbeError: there is no network card.
    """
    cards = sorted(
        name
        for name in os.listdir(_NETWORK_CARDS)
        if os.path.exists(f"{_NETWORK_CARDS}/{name}/device")
    )
    if not cards:
        raise ProbeError("failed", "this machine has no network card")
    return cards[0]


def boot_id() -> str:
    """Return the kernel's ID of this boot; a rewind keeps it."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()
