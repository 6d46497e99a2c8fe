"""Evaluators of git repositories on a desktop; paths are those of work trees.

What counts is what git itself shows, also where the repository, its objects or its references are
elsewhere (``--separate-git-dir``, work trees, submodules, ``commondir``, alternates). They are read
with git's plumbing commands from a verified copy, without the repository's configuration and hooks.
Paths are as in `files`. A folder without its own repository is unmet, as is a repository that is
corrupt, is used through symbolic links, has grafts or replacements, uses SHA-256, or has more than
10 000 files or 128 MiB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.repository import verified_copy

if TYPE_CHECKING:
    from evaluators.desktop.repository import Repository
    from provisioning.probe.guest import Guest

_BRANCHES, _TAGS = "refs/heads/", "refs/tags/"
_REGULAR = "100"
"""Prefix of the modes of regular files."""
_SUBMODULE = "160000 "
"""Mode of a submodule's commit."""
_SHOW_MESSAGE = ("log", "-1", "--no-notes", "--encoding=UTF-8", "--format=%B")
"""Command that prints a message; git decodes it with the encoding in the commit's header."""


@evaluator(on="desktop")
def git_branch_is(guest: Guest, path: MachinePath, branch: str) -> bool:
    """Return whether the given branch is the current one of a repository, as in ``git status``.

    The files in the work tree do not matter; they may still be those of another branch. Proves the
    state, not who caused it.

    Example:
        ``{on: desktop, check: git_branch_is, with: {path: ~/project, branch: main}}``

    Args:
        guest: the desktop.
        path: path of the work tree.
        branch: name of the branch.
    """
    with verified_copy(guest, path) as copy:
        head = copy and copy.output("symbolic-ref", "--quiet", "HEAD")
    return head == f"{_BRANCHES}{branch}"


@evaluator(on="desktop")
def git_branch_exists(guest: Guest, path: MachinePath, branch: str) -> bool:
    """Return whether a repository has a branch with the given name, with a commit.

    A symbolic reference to another branch counts as a branch; one to a tag does not. Proves the
    state, not who caused it.

    Example:
        ``{on: desktop, check: git_branch_exists, with: {path: ~/project, branch: fix}}``

    Args:
        guest: the desktop.
        path: path of the work tree.
        branch: name of the branch.
    """
    with verified_copy(guest, path) as copy:
        return copy is not None and _named(copy, _BRANCHES, branch) is not None


@evaluator(on="desktop")
def git_tag_at(guest: Guest, path: MachinePath, tag: str, ref: str = "HEAD") -> bool:
    """Return whether a tag refers to the same commit as a reference.

    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: git_tag_at, with: {path: ~/project, tag: v1.0, ref: refs/heads/main}}``

    Args:
        guest: the desktop.
        path: path of the work tree.
        tag: name of the tag.
        ref: a branch, tag or commit; a name that a branch and a tag share is unmet unless it is
            complete.
    """
    with verified_copy(guest, path) as copy:
        tagged = copy and _named(copy, _TAGS, tag)
        return copy is not None and tagged is not None and tagged == copy.commit(ref)


@evaluator(on="desktop")
def git_commit_message_is(guest: Guest, path: MachinePath, message: str, ref: str = "HEAD") -> bool:
    """Return whether a commit has exactly the given message.

    CRLF counts as a newline. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: git_commit_message_is, with: {path: ~/project, message: Fix typo}}``

    Args:
        guest: the desktop.
        path: path of the work tree.
        message: the complete message; white space at the ends is ignored.
        ref: a branch, tag or commit; a name that a branch and a tag share is unmet unless it is
            complete.
    """
    with verified_copy(guest, path) as copy:
        commit = copy and copy.commit(ref)
        commit_message = copy.output(*_SHOW_MESSAGE, commit) if copy and commit else None
    return commit_message is not None and _plain_message(commit_message) == _plain_message(message)


@evaluator(on="desktop")
def git_commit_message_contains(
    guest: Guest, path: MachinePath, text: str, ref: str = "HEAD"
) -> bool:
    """Return whether a commit's message contains the given text, on one line or over several.

    The comparison is case-sensitive; runs of white space count as one space. An empty text is
    unmet. Proves the
    state, not who caused it.

    Example:
        ``{on: desktop, check: git_commit_message_contains, with: {path: ~/project, text: "#42"}}``

    Args:
        guest: the desktop.
        path: path of the work tree.
        text: text that the message must contain.
        ref: a branch, tag or commit; a name that a branch and a tag share is unmet unless it is
            complete.
    """
    wanted = " ".join(text.split())
    with verified_copy(guest, path) as copy:
        commit = copy and copy.commit(ref)
        message = copy.output(*_SHOW_MESSAGE, commit) if copy and commit else None
    if message is None or not wanted:
        return False
    return wanted in " ".join(message.split())


@evaluator(on="desktop")
def git_commit_count(guest: Guest, path: MachinePath, count: int, ref: str = "HEAD") -> bool:
    """Return whether the history of a reference has exactly the given number of commits, including merged ones.

    A shallow clone is unmet. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: git_commit_count, with: {path: ~/project, count: 4}}``

    Args:
        guest: the desktop.
        path: path of the work tree.
        count: number of commits, at least 1.
        ref: a branch, tag or commit; a name that a branch and a tag share is unmet unless it is
            complete.
    """
    with verified_copy(guest, path, is_complete=True) as copy:
        commit = copy and copy.commit(ref)
        number = copy.output("rev-list", "--count", commit) if copy and commit else None
    return number == str(count)


@evaluator(on="desktop")
def git_commit_changes(
    guest: Guest, path: MachinePath, files: list[str], ref: str = "HEAD"
) -> bool:
    """Return whether a commit adds, changes or deletes exactly the given files.

    A merge has no changes of its own and is unmet, as are a shallow clone and a commit with a
    submodule. Proves the state, not who
    caused it.

    Example:
        ``{on: desktop, check: git_commit_changes, with: {path: ~/project, files: [README.md]}}``

    Args:
        guest: the desktop.
        path: path of the work tree.
        files: paths in the repository, at least one; a renamed file counts as two.
        ref: a branch, tag or commit; a name that a branch and a tag share is unmet unless it is
            complete.
    """
    arguments = ("diff-tree", "--no-commit-id", "--root", "-r", "-z", "--raw", "--no-renames")
    with verified_copy(guest, path, is_complete=True) as copy:
        commit = copy and copy.commit(ref)
        output = copy.output(*arguments, commit) if copy and commit else None
    changes = str(output or "").strip("\0").split("\0")
    is_of_files = not any(_SUBMODULE in modes for modes in changes[::2])
    return bool(output) and is_of_files and changes[1::2] == sorted(files)


@evaluator(on="desktop")
def git_file_equals(
    guest: Guest, path: MachinePath, file: str, text: str, ref: str = "HEAD"
) -> bool:
    """Return whether a file of a commit contains exactly the given text.

    A single newline at the end, a byte order mark and the state of the work tree are ignored; CRLF
    counts as a newline. A symbolic link does not count as a file. Proves the state, not who made
    it.

    Example:
        ``{on: desktop, check: git_file_equals, with: {path: ~/project, file: NAME, text: Mesocosm}}``

    Args:
        guest: the desktop.
        path: path of the work tree.
        file: its path in the repository.
        text: the complete content.
        ref: a branch, tag or commit; a name that a branch and a tag share is unmet unless it is
            complete.
    """
    with verified_copy(guest, path) as copy:
        commit = copy and copy.commit(ref)
        blob = _blob(copy, commit, file) if copy and commit else None
        content = copy.output("cat-file", "blob", blob) if copy and blob else None
    return content is not None and _plain(f"{content}\n") == _plain(text)


def _blob(copy: Repository, commit: str, file: str) -> str | None:
    """Return the digest of a regular file's content; None for a folder, a link and a submodule."""
    listed = copy.output("ls-tree", "--full-tree", "-z", commit, "--", file) or ""
    what, _, name = listed.removesuffix("\0").partition("\t")
    return what.split(" ")[-1] if what.startswith(_REGULAR) and name == file else None


def _named(copy: Repository, kind: str, name: str) -> str | None:
    """Return the commit of a branch or tag; None if there is none, or it refers to one of another kind."""
    target = copy.output("symbolic-ref", "--quiet", f"{kind}{name}") or kind
    return copy.commit(f"{kind}{name}") if target.startswith(kind) else None


def _plain_message(text: str) -> str:
    """Return a message with CRLF replaced by newlines, without white space at the ends."""
    return text.replace("\r\n", "\n").strip()


def _plain(text: str) -> str:
    """Return a text without byte order mark and last newline, with CRLF replaced by newlines."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")
