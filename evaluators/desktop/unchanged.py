"""Folders that must stay as they were when the task began."""

from __future__ import annotations

import fnmatch
import hashlib
from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.reading import tree_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.probe.guest import Guest

REFERENCE_FOLDER = "/root/.reference"
"""Where `keep_reference` copies folders to; root alone may enter it."""


@evaluator(on="desktop")
def nothing_else_changed(guest: Guest, path: str, but: list[str]) -> bool:
    """Return whether a folder is as the setup operation keep_reference found it, but for some entries.

    Names, contents, kinds and targets of links are compared; times, owners and permissions are not. The
    reference is out of the agent's reach. A folder that is gone, or holds more than 10 000 entries, 256 MiB
    or 100 levels of folders, is unmet; without a reference it cannot be decided.

    Proves the state, not who made it.

    Example:
        ``{on: desktop, check: nothing_else_changed, with: {path: ~/Pictures, but: ["*.jpg"]}}``

    Args:
        guest: the desktop.
        path: of the folder, as the setup names it.
        but: entries that may be added, changed or removed, as patterns of the shell below the folder
            (``*`` is within one name: ``*.jpg`` is in the folder itself, ``*/*.jpg`` one below); one that
            names a folder covers all in it. None for a folder that must not change at all.
    """
    reference = tree_of(guest, reference_of(path, guest.home))
    if reference is None:
        raise ValueError(f"there is no reference of {path}: the setup has no keep_reference of it")
    now = tree_of(guest, path)
    if now is None:
        return False
    names = [name for name in {*reference, *now} if reference.get(name) != now.get(name)]
    return all(_is_covered(name, but) for name in names)


def reference_of(path: str, home: str) -> str:
    """Return where the reference of a folder is kept.

    Args:
        path: of the folder, absolute or starting with ~/.
        home: of the agent.
    """
    short = path.rstrip("/")
    if short.startswith(f"{home}/"):
        short = f"~{short[len(home) :]}"
    return f"{REFERENCE_FOLDER}/{hashlib.sha256(short.encode()).hexdigest()[:32]}"


def _is_covered(name: str, patterns: Sequence[str]) -> bool:
    parts = name.split("/")
    return any(_names(pattern.strip("/").split("/"), parts) for pattern in patterns)


def _names(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether a pattern names an entry or a folder above it, name by name."""
    return len(pattern) <= len(parts) and all(map(fnmatch.fnmatchcase, parts, pattern))
