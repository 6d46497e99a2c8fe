"""Evaluators of folders of a desktop, and of their trees. Paths are as in `files`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.lookalikes import has_lookalike
from evaluators.desktop.reading import is_folder, names_in, tree_of
from evaluators.desktop.visible import look_of, without_invisible

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest


@evaluator(on="desktop")
def directory_exists(guest: Guest, path: MachinePath) -> bool:
    """Return whether a folder exists at the given path.

    A path is unmet where another name looks the same, and differs only in invisible characters.
    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: directory_exists, with: {path: ~/Projects}}``

    Args:
        guest: the desktop.
        path: path of the folder.
    """
    return is_folder(guest, path) and not has_lookalike(guest, path)


@evaluator(on="desktop")
def directory_lists(guest: Guest, path: MachinePath, names: list[str]) -> bool:
    """Return whether a folder contains exactly the given entries.

    Entries whose names begin with a dot are ignored, as are invisible characters in names; a folder
    that is missing, or has more than 10 000 entries or two whose names look alike, is unmet.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: directory_lists, with: {path: ~/inbox, names: [a.txt, b.txt]}}``

    Args:
        guest: the desktop.
        path: path of the folder.
        names: names of files and folders in it, in any order; an empty list for an empty folder.
    """
    seen = _shown(guest, path)
    return seen is not None and sorted(seen) == sorted(map(without_invisible, names))


@evaluator(on="desktop")
def directory_counts(guest: Guest, path: MachinePath, count: int, suffix: str = "") -> bool:
    """Return whether a folder contains exactly the given number of entries whose names end with a suffix.

    Entries whose names begin with a dot are ignored, as are invisible characters in names; a folder
    that is missing, or has more than 10 000 entries or two whose names look alike, is unmet.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: directory_counts, with: {path: ~/scans, count: 12, suffix: .png}}``

    Args:
        guest: the desktop.
        path: path of the folder.
        count: number of entries.
        suffix: suffix, case-sensitive; if empty, all entries count.
    """
    seen = _shown(guest, path)
    wanted = without_invisible(suffix)
    return seen is not None and sum(name.endswith(wanted) for name in seen) == count


@evaluator(on="desktop")
def directories_equal(guest: Guest, source: str, target: str) -> bool:
    """Return whether two folders contain the same files with the same content, in the same subfolders.

    Times, owners and permissions are ignored; entries whose names begin with a dot are compared.
    Links must have the same target text. A source without files or links is unmet, even with empty
    folders, because nothing shows that it was copied. Folders with more than 10 000 entries, 256
    MiB or 100 levels are unmet, as is a target that is the source or within it.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: directories_equal, with: {source: ~/work, target: /srv/backup/work}}``

    Args:
        guest: the desktop.
        source: the original folder.
        target: the copy.
    """
    if f"{guest.path(target)}/".startswith(f"{guest.path(source)}/"):
        return False
    original = tree_of(guest, source)
    if original is None or all(kind.startswith(("folder", "other")) for kind in original.values()):
        return False
    return tree_of(guest, target) == original


def _shown(guest: Guest, path: str) -> list[str] | None:
    """Return the names in a folder as shown; None if it is unknown, or two names look alike."""
    names = names_in(guest, path)
    if names is None:
        return None
    seen = [without_invisible(name) for name in names if not name.startswith(".")]
    return seen if len(set(map(look_of, seen))) == len(seen) else None
