"""Git repositories on a desktop; paths are those of work trees.

Objects and references are read with git's plumbing commands, as the repository's owner, with only the
repository's own configuration, and without hooks, replacements and network. Paths are as for files; a
folder without a repository of its own is unmet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.reading import is_folder

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

GIT = (
    "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/nonexistent",
    "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "/usr/bin/git", "--no-pager",
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
)  # fmt: skip
_CANNOT_RUN = (126, 127)


@evaluator(on="desktop")
def git_branch_is(guest: Guest, path: str, branch: str) -> bool:
    """Return whether a repository has this branch checked out.

    Example:
        ``{on: desktop, check: git_branch_is, with: {path: ~/project, branch: main}}``

    Args:
        guest: the desktop.
        path: of the work tree.
        branch: its name.
    """
    return _git_output(guest, path, "symbolic-ref", "--quiet", "HEAD") == f"refs/heads/{branch}"


@evaluator(on="desktop")
def git_branch_exists(guest: Guest, path: str, branch: str) -> bool:
    """Return whether a repository has a branch of this name, with a commit.

    Example:
        ``{on: desktop, check: git_branch_exists, with: {path: ~/project, branch: fix}}``

    Args:
        guest: the desktop.
        path: of the work tree.
        branch: its name.
    """
    return bool(_commit(guest, path, f"refs/heads/{branch}"))


@evaluator(on="desktop")
def git_tag_at(guest: Guest, path: str, tag: str, ref: str = "HEAD") -> bool:
    """Return whether a tag names the same commit as a reference.

    Example:
        ``{on: desktop, check: git_tag_at, with: {path: ~/project, tag: v1.0, ref: refs/heads/main}}``

    Args:
        guest: the desktop.
        path: of the work tree.
        tag: its name.
        ref: a branch, tag or commit.
    """
    tagged = _commit(guest, path, f"refs/tags/{tag}")
    return bool(tagged) and tagged == _commit(guest, path, ref)


@evaluator(on="desktop")
def git_commit_message_is(guest: Guest, path: str, message: str, ref: str = "HEAD") -> bool:
    """Return whether a commit has exactly this message; white space at its ends is ignored.

    Example:
        ``{on: desktop, check: git_commit_message_is, with: {path: ~/project, message: Fix typo}}``

    Args:
        guest: the desktop.
        path: of the work tree.
        message: the whole message.
        ref: a branch, tag or commit.
    """
    commit = _commit(guest, path, ref)
    content = commit and _git_output(guest, path, "cat-file", "commit", commit)
    return bool(content) and str(content).partition("\n\n")[2].strip() == message.strip()


@evaluator(on="desktop")
def git_commit_count(guest: Guest, path: str, count: int, ref: str = "HEAD") -> bool:
    """Return whether a reference has this many commits in its history, merged ones included.

    Example:
        ``{on: desktop, check: git_commit_count, with: {path: ~/project, count: 4}}``

    Args:
        guest: the desktop.
        path: of the work tree.
        count: how many, at least 1.
        ref: a branch, tag or commit.
    """
    commit = _commit(guest, path, ref)
    return bool(commit) and _git_output(guest, path, "rev-list", "--count", str(commit)) == str(
        count
    )


@evaluator(on="desktop")
def git_commit_changes(guest: Guest, path: str, files: list[str], ref: str = "HEAD") -> bool:
    """Return whether a commit adds, changes or deletes exactly these files.

    A merge has no changes of its own, and is unmet.

    Example:
        ``{on: desktop, check: git_commit_changes, with: {path: ~/project, files: [README.md]}}``

    Args:
        guest: the desktop.
        path: of the work tree.
        files: paths in the repository, at least one; a renamed file counts as two.
        ref: a branch, tag or commit.
    """
    commit = _commit(guest, path, ref)
    arguments = ("diff-tree", "--no-commit-id", "--root", "-r", "-z", "--name-only", "--no-renames")
    output = commit and _git_output(guest, path, *arguments, commit)
    return bool(output) and str(output).strip("\0").split("\0") == sorted(files)


@evaluator(on="desktop")
def git_file_equals(guest: Guest, path: str, file: str, text: str, ref: str = "HEAD") -> bool:
    """Return whether a file of a commit holds exactly this text.

    One newline at the end and the state of the work tree are ignored.

    Example:
        ``{on: desktop, check: git_file_equals, with: {path: ~/project, file: NAME, text: Mesocosm}}``

    Args:
        guest: the desktop.
        path: of the work tree.
        file: its path in the repository.
        text: the whole content.
        ref: a branch, tag or commit.
    """
    commit = _commit(guest, path, ref)
    content = _git_output(guest, path, "cat-file", "blob", f"{commit}:{file}") if commit else None
    return content is not None and content == text.removesuffix("\n")


def _commit(guest: Guest, path: str, ref: str) -> str | None:
    """Return the digest of the commit of a reference; None when there is none.

    Raises:
        ValueError: `ref` is an option.
    """
    if ref.startswith("-"):
        raise ValueError(f"{ref!r} is not a branch, tag or commit")
    return _git_output(guest, path, "rev-parse", "--verify", f"{ref}^{{commit}}")


def _git_output(guest: Guest, path: str, *arguments: str) -> str | None:
    """Return git's output without one newline at its end; None when it fails or is not UTF-8.

    Raises:
        ValueError: git is not installed.
    """
    folder = f"{guest.path(path)}/.git"
    if not is_folder(guest, folder):
        return None
    code, out, _ = guest.run_as_user([*GIT, f"--git-dir={folder}", *arguments])
    if code in _CANNOT_RUN:
        raise ValueError("git is not installed on the desktop")
    try:
        return out.decode("utf-8").removesuffix("\n") if code == 0 else None
    except UnicodeDecodeError:
        return None
