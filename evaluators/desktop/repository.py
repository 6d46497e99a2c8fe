"""Verified copies of git repositories.

Git's view of a repository depends on more than its objects: other folders that it names
(`git_layout`), grafts, replacements, shallow histories, and its configuration; and git trusts an
object file with the wrong content. Therefore only the references and objects that git would use are
copied, to a folder that only the evaluators' user can write to, and git verifies every object of
the copy before anything is read. A repository of which git shows other commits than are stored,
because of grafts or replacements, has no copy.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evaluators.desktop.git_layout import layout_of, references_in, shows_stored_history
from evaluators.desktop.reading import look, names_in, private_folder, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.desktop.git_layout import Layout
    from provisioning.probe.guest import Guest

GIT = (
    "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/nonexistent",
    "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "timeout", "--signal=KILL", "8",
    "/usr/bin/git", "--no-pager",
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
)  # fmt: skip
_HEAD, _SHALLOW = "HEAD", "shallow"
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
    """Copy and verify the repository that git finds for a work tree.

    Args:
        guest: the desktop.
        path: path of the work tree.
        is_complete: whether to reject a shallow clone, whose history is truncated.

    Yields:
        The copy; None if there is no repository, or it is corrupt, is used through symbolic links,
        has replacements or grafts, uses SHA-256, has more than 10 000 files or 128 MiB, or takes
        too long to verify.

    Raises:
        ValueError: git is not installed.
    """
    with private_folder() as folder:
        Path(folder).chmod(0o755)
        layout = layout_of(guest, path)
        is_valid = (
            layout is not None
            and shows_stored_history(guest, layout)
            and not (is_complete and look(guest, layout.path(_SHALLOW)))
            and _copy(guest, layout, folder)
            and _run_git(guest, folder, "fsck", "--full", "--strict", "--no-progress")[0] == 0
        )
        yield Repository(guest, folder) if is_valid else None


def _run_git(guest: Guest, folder: str, *arguments: str) -> tuple[int, bytes, bytes]:
    """Run git on a copy, as the agent's user, who cannot modify it.

    Raises:
        ValueError: git is not installed.
    """
    done = guest.run_as_user([*GIT, f"--git-dir={folder}", *arguments])
    if done[0] in _CANNOT_RUN:
        raise ValueError("git is not installed on the desktop")
    return done


def _copy(guest: Guest, layout: Layout, target: str) -> bool:
    """Copy the relevant files of a repository; return whether they are within the limits."""
    for name in ("objects", "refs"):
        Path(target, name).mkdir(mode=0o755)
    Path(target, "config").write_text(_CONFIGURATION, encoding="utf-8")
    left = _MAX_BYTES
    files = itertools.chain(_references(guest, layout), _objects(guest, layout))
    for count, (name, source) in enumerate(files):
        data = read_bytes(guest, source, left)
        if data is None or count >= _MAX_FILES:
            return False
        if name.startswith(_REMOTES) and data.startswith(_SYMBOLIC):
            continue
        left -= len(data)
        copied = Path(target, name)
        copied.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        if not copied.exists():  # objects of the repository itself come first
            copied.write_bytes(data)
    return True


def _references(guest: Guest, layout: Layout) -> Iterator[tuple[str, str]]:
    """Iterate over the relative and absolute paths of all files of references, and of other things in their place."""
    for name in (_HEAD, "packed-refs", _SHALLOW):
        if look(guest, layout.path(name)) is not None:
            yield name, layout.path(name)
    for name in references_in(guest, layout):
        yield name, layout.path(name)


def _objects(guest: Guest, layout: Layout) -> Iterator[tuple[str, str]]:
    """Iterate over the relative and absolute paths of all files of objects."""
    for source in layout.objects:
        for folder in names_in(guest, source) or ():
            for name in names_in(guest, f"{source}/{folder}") or ():
                if _OBJECTS.fullmatch(f"{folder}/{name}"):
                    yield f"objects/{folder}/{name}", f"{source}/{folder}/{name}"
