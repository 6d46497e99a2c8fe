"""Evaluator of folders that must not change during the task."""

from __future__ import annotations

import fnmatch
import hashlib
from typing import TYPE_CHECKING

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.reading import tree_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.probe.guest import Guest

REFERENCE_FOLDER = "/root/.reference"
"""Destination of the copies of `keep_reference`; only root may access it."""


@evaluator(on="desktop")
def nothing_else_changed(guest: Guest, path: MachinePath, but: list[str]) -> bool:
    """Return whether a folder has not changed since the setup operation keep_reference, except for given entries.

    Names, contents, kinds and targets of links are compared; times, owners and permissions are not.
    The agent cannot access the reference. A folder that is missing, or has more than 10 000
    entries, 256 MiB or 100 levels of folders, is unmet; without a reference the result is
    inconclusive.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: nothing_else_changed, with: {path: ~/Pictures, but: ["*.jpg"]}}``

    Args:
        guest: the desktop.
        path: path of the folder, as in the setup.
        but: entries that may be added, changed or removed, as shell patterns relative to the folder
            (``*`` does not match a slash: ``*.jpg`` is in the folder itself, ``*/*.jpg`` one level
            below); a pattern that matches a folder covers its contents. An empty list for a folder
            that must not change at all.
    """
    reference = tree_of(guest, reference_of(path, guest.home))
    if reference is None:
        raise ValueError(
            f"there is no reference of {path}: the setup does not have keep_reference for it"
        )
    now = tree_of(guest, path)
    if now is None:
        return False
    names = [name for name in {*reference, *now} if reference.get(name) != now.get(name)]
    return all(_is_covered(name, but) for name in names)


def reference_of(path: str, home: str) -> str:
    """Return the path of the reference of a folder.

    Args:
        path: path of the folder, absolute or starting with ~/.
        home: home folder of the agent.
    """
    short = path.rstrip("/")
    if short.startswith(f"{home}/"):
        short = f"~{short[len(home) :]}"
    return f"{REFERENCE_FOLDER}/{hashlib.sha256(short.encode()).hexdigest()[:32]}"


def _is_covered(name: str, patterns: Sequence[str]) -> bool:
    parts = name.split("/")
    return any(_names(pattern.strip("/").split("/"), parts) for pattern in patterns)


def _names(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether a pattern matches an entry or one of its parent folders, name by name."""
    return len(pattern) <= len(parts) and all(map(fnmatch.fnmatchcase, parts, pattern))
