"""Verified copies of git repositories.

Git's view of a repository depends on more than its objects: grafts, replacements, shallow
histories, objects elsewhere, and its configuration; and git trusts an object file with the wrong
content. Therefore only references and objects are copied, to a folder that only the evaluators'
user can write to, and git verifies every object of the copy before anything is read.
"""

from __future__ import annotations

import contextlib
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evaluators.desktop.reading import (
    is_file,
    is_folder,
    names_in,
    private_folder,
    read_bytes,
    read_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.probe.guest import Guest

GIT = (
    "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/nonexistent",
    "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "timeout", "--signal=KILL", "8",
    "/usr/bin/git", "--no-pager",
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
)  # fmt: skip
_HEAD = "HEAD"
_LINK = "gitdir: "
_REMOTES, _SYMBOLIC = "refs/remotes/", b"ref: "
"""Default branches of remotes, which are dangling after the remote has renamed its branch."""
_WHOLE = re.compile(r"refs/(?:[^~^:@]|@(?!{))*")
"""A reference's complete name, without suffixes such as ``~1``. Source: gitrevisions(7)."""
_AMBIGUOUS = b" is ambiguous"
_CANNOT_RUN = (126, 127)
_CONFIGURATION = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
_OBJECTS = re.compile(r"[0-9a-f]{2}/[0-9a-f]{38}|pack/pack-[0-9a-f]{40}\.(pack|idx)")
_MAX_BYTES = 1 << 27
_MAX_FILES = 10_000
_MAX_DEPTH = 10


class _Places(NamedTuple):
    """Locations of a repository's files.

    Attributes:
        own: folder of the files that belong to one work tree, such as HEAD.
        common: folder of all other files; the same, except for a linked work tree.
    """

    own: str
    common: str

    def path(self, name: str) -> str:
        """Return the path of a file."""
        return f"{self.own if name == _HEAD else self.common}/{name}"


class Repository(NamedTuple):
    """A verified copy of a repository.

    Attributes:
        guest: the desktop.
        folder: folder of the copy.
    """

    guest: Guest
    folder: str

    def output(self, *arguments: str) -> str | None:
        """Return git's output without a final newline; None if git fails or the output is not UTF-8."""
        code, out, _ = _run_git(self.guest, self.folder, *arguments)
        try:
            return out.decode("utf-8").removesuffix("\n") if code == 0 else None
        except UnicodeDecodeError:
            return None

    def commit(self, ref: str) -> str | None:
        """Return the digest of the commit of a reference; None if there is none.

        The result is also None for a name that a branch and a tag share, unless it is complete,
        such as ``refs/heads/main``: git uses the tag, but people mean the branch.

        Raises:
            ValueError: `ref` is an option.
        """
        if ref.startswith("-"):
            raise ValueError(f"{ref!r} is not a branch, tag or commit")
        whole = _WHOLE.match(ref)
        if whole and self.output("show-ref", "--verify", "--quiet", whole[0]) is None:
            return None  # git would search for it, because a tag may be called refs/heads/main
        code, out, err = _run_git(
            self.guest, self.folder, "rev-parse", "--verify", f"{ref}^{{commit}}"
        )
        is_whole = ref == _HEAD or ref.startswith("refs/")
        if code or (_AMBIGUOUS in err and not is_whole):
            return None
        return out.decode("ascii").strip()


@contextlib.contextmanager
def verified_copy(
    guest: Guest, path: str, *, is_complete: bool = False
) -> Iterator[Repository | None]:
    """Copy and verify the repository of a work tree, which may be linked (``git worktree``).

    Args:
        guest: the desktop.
        path: path of the work tree.
        is_complete: whether to reject a shallow clone, whose history is truncated.

    Yields:
        The copy; None if there is no repository, or it is corrupt, uses objects from elsewhere or
        SHA-256, has more than 10 000 files or 128 MiB, or takes too long to verify.

    Raises:
        ValueError: git is not installed.
    """
    with private_folder() as folder:
        Path(folder).chmod(0o755)
        places = _places_of(guest, path)
        is_valid = (
            places is not None
            and _copy(guest, places, folder, with_shallow=not is_complete)
            and _run_git(guest, folder, "fsck", "--full", "--strict", "--no-progress")[0] == 0
        )
        yield Repository(guest, folder) if is_valid else None


def _places_of(guest: Guest, path: str) -> _Places | None:
    """Return the locations of a work tree's repository; None if it has none.

    A linked work tree and its repository must refer to each other, as with ``git worktree``.

    Source: gitrepository-layout(5), ``worktrees/<id>/gitdir`` and ``commondir``.
    """
    own = guest.path(f"{path}/.git")
    if is_folder(guest, own):
        return _Places(own, own)
    link = _line_of(guest, own)
    if not link.startswith(_LINK):
        return None
    folder = guest.path(posixpath.join(posixpath.dirname(own), link[len(_LINK) :]))
    common, back = (
        guest.path(posixpath.join(folder, _line_of(guest, f"{folder}/{name}")))
        for name in ("commondir", "gitdir")
    )
    is_linked = back == own and posixpath.dirname(folder) == f"{common}/worktrees"
    return _Places(folder, common) if is_linked else None


def _line_of(guest: Guest, path: str) -> str:
    """Return the single line of a file; empty if there is none."""
    return (read_text(guest, path) or "").removesuffix("\n")


def _run_git(guest: Guest, folder: str, *arguments: str) -> tuple[int, bytes, bytes]:
    """Run git on a copy, as the agent's user, who cannot modify it.

    Raises:
        ValueError: git is not installed.
    """
    done = guest.run_as_user([*GIT, f"--git-dir={folder}", *arguments])
    if done[0] in _CANNOT_RUN:
        raise ValueError("git is not installed on the desktop")
    return done


def _copy(guest: Guest, places: _Places, target: str, *, with_shallow: bool) -> bool:
    """Copy the relevant files of a repository; return whether they are within the limits."""
    for name in ("objects", "refs"):
        Path(target, name).mkdir(mode=0o755)
    Path(target, "config").write_text(_CONFIGURATION, encoding="utf-8")
    left = _MAX_BYTES
    names = _files(guest, places, with_shallow=with_shallow)
    for count, name in enumerate(names):
        data = read_bytes(guest, places.path(name), left)
        if data is None or count >= _MAX_FILES:
            return False
        if name.startswith(_REMOTES) and data.startswith(_SYMBOLIC):
            continue
        left -= len(data)
        copied = Path(target, name)
        copied.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        copied.write_bytes(data)
    return True


def _files(guest: Guest, places: _Places, *, with_shallow: bool) -> Iterator[str]:
    """Iterate over the relative paths of the relevant files: references and objects."""
    top = (_HEAD, "packed-refs", *(["shallow"] if with_shallow else []))
    yield from (name for name in top if is_file(guest, places.path(name)))
    source = places.common
    yield from _below(guest, source, "refs")
    for folder in names_in(guest, f"{source}/objects") or ():
        for name in names_in(guest, f"{source}/objects/{folder}") or ():
            if _OBJECTS.fullmatch(f"{folder}/{name}"):
                yield f"objects/{folder}/{name}"


def _below(guest: Guest, source: str, folder: str) -> Iterator[str]:
    """Iterate over the files below a folder of references, without replacements."""
    is_too_deep = folder.count("/") > _MAX_DEPTH
    for name in () if is_too_deep else names_in(guest, f"{source}/{folder}") or ():
        path = f"{folder}/{name}"
        if is_folder(guest, f"{source}/{path}") and path != "refs/replace":
            yield from _below(guest, source, path)
        elif is_file(guest, f"{source}/{path}"):
            yield path
