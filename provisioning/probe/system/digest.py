"""The state for verifying resets, as far as root sees it: home files, settings, processes.

The display helper adds windows and clipboards, see `windows` and `selections`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from typing import TYPE_CHECKING, Any

from provisioning.probe.system import proc
from provisioning.probe.system.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from provisioning.probe.system.identity import Identity

FORMAT = 3
"""Version of the digest; incremented whenever the meaning of its content changes."""

SKIPPED = frozenset({".cache", ".local/share/gvfs-metadata", ".local/state", ".dbus"})
"""Folders in the home folder that programs write to without user action; not compared."""

MAX_CHARS = 2_000_000
"""Maximum size of paths and rows; beyond it, only the first folders count, and a row reports it."""

CUT = "(more files than are compared)"
_FINGERPRINT_BYTES = 16
_DCONF = ".config/dconf/user"


def take(identity: Identity, own_pids: set[int]) -> dict[str, Any]:
    """Return ``files`` (path below home to size, mtime and mode), ``settings``, ``processes``.

    Settings are digests by key. No other file content is read than their database, so that this is
    fast under emulation.

    Args:
        identity: user whose state is read.
        own_pids: the probe's own processes, which are omitted with all their descendants.
    """
    processes = proc.list_processes(identity.uid)
    own = proc.descendants(processes, own_pids)
    return {
        "files": _files(identity.home),
        "settings": read_settings(os.path.join(identity.home, _DCONF)),
        "processes": sorted(
            f"{process.comm} {process.argv[0]}" for process in processes if process.pid not in own
        ),
    }


def fingerprint(identity: Identity, shown: Callable[[], list[bytes]]) -> str:
    """Return a digest of all that `take` and the display's helper report, from undecoded data.

    Equal fingerprints mean equal states, in a third of the time just after a reset; different
    ones need not mean different states.

    Args:
        identity: user whose state is read.
        shown: returns the X server's replies; called last.
    """
    rows = [f"{path} {row}" for path, row in _files(identity.home).items()]
    parts = [*proc.raw_rows(identity.uid), "\0".join(rows).encode("utf-8", "surrogateescape")]
    with contextlib.suppress(OSError), open(os.path.join(identity.home, _DCONF), "rb") as file:
        parts.append(file.read())
    parts += shown()
    # Not SHA-256, which OpenSSL computes: its first use after a reset is slow under emulation.
    total = hashlib.blake2b(digest_size=_FINGERPRINT_BYTES)
    for part in parts:
        total.update(len(part).to_bytes(8, "little") + part)
    return total.hexdigest()


def _files(home: str) -> dict[str, str]:
    rows: dict[str, str] = {}
    folders, chars = [""], 0
    try:
        device = os.stat(home).st_dev
    except OSError:
        return rows
    while folders:
        if chars > MAX_CHARS:
            rows[CUT] = ""
            break
        folder = folders.pop()
        try:
            entries = sorted(os.scandir(os.path.join(home, folder)), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if name in SKIPPED:
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                row = f"dir {status.st_mode:o}"
                # A mount is not part of the home folder, and may hang.
                if status.st_dev == device:
                    folders.append(name)
            else:
                row = f"{status.st_size} {status.st_mtime_ns} {status.st_mode:o}"
            rows[name] = row
            chars += len(name) + len(row)
    return rows
