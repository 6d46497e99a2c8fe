"""Repositories whose files are in several folders; what counts is what git itself shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.testing.case import Case, State
    from tests.evaluator_cases.repository import RepositoryFixture

    Layout = Callable[[RepositoryFixture], object]


def _plumbed(b: RepositoryFixture) -> None:
    """Create two commits on the branches main and fix, with the tag v1."""
    b.commit("zero", z="0")
    b.write("~/r/a", "hi")
    b.git("update-index", "--add", "a")
    commit = b.git("commit-tree", b.git("write-tree"), "-p", "HEAD", "-m", "one")
    for name in ("heads/main", "heads/fix", "tags/v1"):
        b.git("update-ref", f"refs/{name}", commit)


def _move(b: RepositoryFixture, target: str) -> None:
    """Move the repository elsewhere."""
    b.folder_at(target.rpartition("/")[0])
    b.at("~/r/.git").rename(b.at(target))


def _shows(b: RepositoryFixture, *subjects: str) -> None:
    """Assert that git shows commits with these subjects."""
    assert b.git("log", "--format=%s").split() == list(subjects)


def _shown(layout: Layout) -> State:
    """Return a state whose commits git shows."""

    def state(b: RepositoryFixture) -> None:
        _plumbed(b)
        layout(b)
        _shows(b, "one", "zero")

    return state


def _not_shown(layout: Layout) -> State:
    """Return a state with the same commits in ``~/r/.git``, while git shows other ones or nothing."""

    def state(b: RepositoryFixture) -> None:
        b.commit("other")
        b.git("checkout", "-q", "-b", "other")
        _move(b, "~/other/.git")
        _plumbed(b)
        layout(b)

    return state


def _joined(b: RepositoryFixture) -> None:
    """Keep only HEAD in ``~/r/.git``, and everything else elsewhere."""
    _move(b, "~/g")
    b.write("~/r/.git/HEAD", "ref: refs/heads/main\n")
    b.write("~/r/.git/commondir", "../../g\n")


def _chained(b: RepositoryFixture) -> None:
    """Take all objects from a folder that takes them from another one."""
    b.at("~/r/.git/objects").rename(b.folder_at("~/far") / "objects")
    b.write("~/near/objects/info/alternates", f"# far\n{b.at('~/far')}/objects\n")
    b.write("~/r/.git/objects/info/alternates", "../../../near/objects\n/nowhere\n")


def _named(b: RepositoryFixture, folder: str = "~/g") -> None:
    """Put the repository elsewhere, as ``git init --separate-git-dir`` does."""
    _move(b, folder)
    b.write("~/r/.git", f"gitdir: {b.at(folder)}\r\n")


def _nested(b: RepositoryFixture) -> None:
    """Put the repository into that of another project, as for a submodule."""
    _move(b, "~/.git/modules/r")
    b.write("~/r/.git", "gitdir: ../.git/modules/r\n")
    b.git("config", "core.worktree", "../../../r")


def _shared(b: RepositoryFixture) -> None:
    """Clone the repository with ``--shared``."""
    b.at("~/r").rename(b.at("~/origin"))
    b.folder_at("~/r")
    b.git("clone", "-q", "--shared", str(b.at("~/origin")), ".")
    b.git("branch", "-q", "fix")


def _named_other(b: RepositoryFixture) -> None:
    """Make git show the other repository, with the wanted one beside it."""
    _move(b, "~/r/git")
    b.write("~/r/.git", f"gitdir: {b.at('~/other')}/.git\n")
    _shows(b, "other")


def _joined_other(b: RepositoryFixture) -> None:
    """Make git show the references and objects of the other repository."""
    b.write("~/r/.git/commondir", "../../other/.git\n")
    _shows(b, "other")


def _without_references(b: RepositoryFixture) -> None:
    """Pack all references and remove their folder, without which git finds no repository."""
    b.git("pack-refs", "--all")
    b.at("~/r/.git/refs").rename(b.at("~/refs"))


def _linked(name: str) -> Layout:
    """Return a layout with a link in place of a file that git reads through it."""

    def layout(b: RepositoryFixture) -> None:
        b.git("pack-refs", "--all")
        b.at(f"~/r/.git/{name}").parent.mkdir(parents=True, exist_ok=True)
        target = b.write("~/target", f"{b.at('~/other')}/.git\n")
        b.at(f"~/r/.git/{name}").unlink(missing_ok=True)
        b.at(f"~/r/.git/{name}").symlink_to(target)

    return layout


_SHOWN: dict[str, Layout] = {
    "repository elsewhere": _named,
    "repository in that of another project": _nested,
    "references and objects elsewhere": _joined,
    "shared clone": _shared,
    "objects from a chain of folders": _chained,
}
_OTHER_COMMON = "in a repository whose commondir names another one"
_NOT_SHOWN: dict[str, Layout] = {
    "next to a .git file that names another repository": _named_other,
    _OTHER_COMMON: _joined_other,
    "in a repository whose commondir contains a NUL": lambda b: b.write(
        "~/r/.git/commondir", "../../other/.git\0\n"
    ),
    "in a repository whose list of alternates contains a NUL": lambda b: b.write(
        "~/r/.git/objects/info/alternates", "x\0y\n"
    ),
    "in a repository without a folder of references": _without_references,
    "with a link as commondir": _linked("commondir"),
    "with a link as list of alternates": _linked("objects/info/alternates"),
    "with a link as packed references": _linked("packed-refs"),
    "with a link as reference": _linked("refs/heads/main"),
}


def layout_cases(**args: Any) -> tuple[Case, ...]:
    """Return cases of ``~/r`` with two commits: *zero*, and *one* with the file ``a``, on main and fix."""
    is_of_head = args.get("branch") == "main"  # which is in a file of its own
    return (
        *(another_way(name, _shown(layout), path="~/r", **args) for name, layout in _SHOWN.items()),
        *(
            forged(name, _not_shown(layout), path="~/r", **args)
            for name, layout in _NOT_SHOWN.items()
            if not (is_of_head and name == _OTHER_COMMON)
        ),
    )
