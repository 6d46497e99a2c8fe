"""Test fixture with a git repository, created by git."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evaluators.testing.case import another_way, forged
from evaluators.testing.desktop import DesktopFixture, ScratchGuest
from foundation.process import run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evaluators.testing.case import Case, State, StateMutation

_WHO = ("-c", "user.name=Ann", "-c", "user.email=ann@mail.test", "-c", "init.defaultBranch=main")
_ENV = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_DATE": "2026-11-21T12:00:00Z",
    "GIT_COMMITTER_DATE": "2026-11-21T12:00:00Z",
}


class _GuestWithoutGit(ScratchGuest):
    """A guest on which every program ends with one exit code."""

    exit_code = 0

    def run_as_user(self, argv: Sequence[str], timeout_s: float = 10.0) -> tuple[int, bytes, bytes]:
        """Return the exit code."""
        del argv, timeout_s
        return self.exit_code, b"", b""


class RepositoryFixture(DesktopFixture):
    """A desktop whose programs really run, with a repository at ``~/r``.

    Attributes:
        git_exit_code: exit code of git on a desktop that cannot run it; 0 if git runs.
    """

    runs_programs = True
    git_exit_code = 0

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._commits = 0

    def subject(self) -> ScratchGuest:
        """Create a guest with an empty cache."""
        if not self.git_exit_code:
            return super().subject()
        guest = _GuestWithoutGit(self.folder, self.answers)
        guest.exit_code = self.git_exit_code
        return guest

    def git(self, *arguments: str) -> str:
        """Run git in the repository and return its output."""
        argv = ["/usr/bin/git", *_WHO, "-C", str(self.at("~/r")), *arguments]
        return run(argv, env=_ENV).require().stdout.decode().strip()

    def start(self) -> None:
        """Create the repository, unless it exists."""
        self.folder_at("~/r")
        if not self.at("~/r/.git").exists():
            self.git("init", "-q", "--template=")

    def commit(self, message: str, **contents: str) -> None:
        """Commit files; without any, a new file that holds the message."""
        self.start()
        for name, content in (contents or {f"f{self._commits}": message}).items():
            self.write(f"~/r/{name}", content)
        self._commits += 1
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def state_mutations(self) -> list[StateMutation]:
        """Return mutations of the whole repository: its files name each other by digest."""
        repository = self.at("~/r/.git")

        def empty(part: str) -> None:
            for path in [*repository.glob(part)]:
                if path.is_file():
                    path.chmod(0o644)
                    path.write_bytes(b"")

        def link() -> None:
            repository.rename(self.folder / "aside")
            repository.symlink_to(self.folder / "aside")

        return [
            ("repository: rename", lambda: repository.rename(self.at("~/r/git"))),
            ("repository: link", link),
            ("repository: empty objects", lambda: empty("objects/*/*")),
            ("repository: empty HEAD", lambda: empty("HEAD")),
            ("repository: empty references", lambda: empty("refs/**/*")),
        ]


def _symbolic(name: str, target: str) -> State:
    """Create a tagged commit, and a symbolic reference to a different reference."""

    def make(fixture: RepositoryFixture) -> None:
        fixture.commit("one")
        fixture.git("tag", "v1")
        fixture.git("symbolic-ref", name, target)

    return make


def _stale_remote(fixture: RepositoryFixture) -> None:
    """Create a branch, and a dangling default branch of a remote."""
    _symbolic("refs/remotes/origin/HEAD", "refs/remotes/origin/master")(fixture)
    fixture.git("branch", "fix")


def in_latin_1(*, says: bool = True) -> State:
    """Return a state with a commit whose message, ``café``, is in Latin-1.

    The commit may declare this; otherwise git treats the message as UTF-8.
    """

    def make(fixture: RepositoryFixture) -> None:
        fixture.start()
        message = fixture.at("~/message")
        message.write_bytes("café\n".encode("latin-1"))
        encoding = ("-c", "i18n.commitEncoding=ISO-8859-1") if says else ()
        fixture.git(*encoding, "commit", "-q", "--allow-empty", "-F", str(message))

    return make


def named_in_full(kind: str, name: str) -> State:
    """Return a state with a branch or tag whose short name is the full name of something else."""

    def make(fixture: RepositoryFixture) -> None:
        fixture.commit("one")
        fixture.git(kind, name)

    return make


def branch_cases() -> tuple[Case, ...]:
    """Return cases in which a branch named fix is a symbolic reference."""
    ways = {
        "a tag": "refs/tags/v1",
        "itself": "refs/heads/fix",
        "a missing branch": "refs/heads/none",
    }
    return (
        *(
            forged(
                f"symbolic reference to {what}",
                _symbolic("refs/heads/fix", target),
                path="~/r",
                branch="fix",
            )
            for what, target in ways.items()
        ),
        *(
            forged(
                f"{kind} with its full name as short name",
                named_in_full(kind, "refs/heads/fix"),
                path="~/r",
                branch="fix",
            )
            for kind in ("branch", "tag")
        ),
        another_way(
            "next to a tag with its full name as short name",
            lambda b: (named_in_full("tag", "refs/heads/fix")(b), b.git("branch", "fix")),
            path="~/r",
            branch="fix",
        ),
        another_way(
            "at sign in the name",
            named_in_full("branch", "fix@home"),
            path="~/r",
            branch="fix@home",
        ),
        another_way(
            "next to a remote that renamed its branch", _stale_remote, path="~/r", branch="fix"
        ),
        another_way(
            "symbolic reference to a different branch",
            _symbolic("refs/heads/fix", "refs/heads/main"),
            path="~/r",
            branch="fix",
        ),
    )


def tag_cases() -> tuple[Case, ...]:
    """Return cases in which a tag named v2 is a symbolic reference."""
    return (
        *(
            forged(
                f"{kind} with its full name as short name",
                named_in_full(kind, "refs/tags/v2"),
                path="~/r",
                tag="v2",
            )
            for kind in ("branch", "tag")
        ),
        forged(
            "symbolic reference to a branch",
            _symbolic("refs/tags/v2", "refs/heads/main"),
            path="~/r",
            tag="v2",
        ),
        another_way(
            "symbolic reference to a different tag",
            _symbolic("refs/tags/v2", "refs/tags/v1"),
            path="~/r",
            tag="v2",
        ),
    )


def text_cases() -> tuple[Case, ...]:
    """Return cases of a file with two lines, as editors of different systems write them."""
    mark, text = "\ufeff", "hi\nyou"
    ways = {
        "with CRLF": ("hi\r\nyou\r\n", text),
        "with CRLF, and no trailing line end": ("hi\r\nyou", text),
        "with a byte order mark": (f"{mark}hi\nyou\n", text),
        "expected text has CRLF": (f"{text}\n", "hi\r\nyou\r\n"),
        "expected text has a byte order mark": (text, mark + text),
    }
    forgeries = {
        "two lines on one line": ("hi\\nyou", text),
        "with an empty line": ("hi\r\n\r\nyou", text),
        "two trailing line ends": ("hi\r\nyou\r\n\r\n", text),
        "with carriage returns only": ("hi\ryou", text),
        "byte order mark in the middle": (f"hi\n{mark}you", text),
    }
    return tuple(
        case(
            name,
            partial(RepositoryFixture.commit, message="one", a=content),
            path="~/r",
            file="a",
            text=wanted,
        )
        for case, states in ((another_way, ways), (forged, forgeries))
        for name, (content, wanted) in states.items()
    )


def _message(content: str) -> State:
    def make(fixture: RepositoryFixture) -> None:
        fixture.start()
        path = fixture.write("~/message", content)
        options = ("--allow-empty", "--cleanup=verbatim", "-q", "-F", str(path))
        fixture.git("commit", *options)

    return make


def message_cases() -> tuple[Case, ...]:
    """Return cases of a message with a subject and a body, as editors of different systems write it."""
    args = {"path": "~/r", "message": "Fix\n\nthe typo"}
    return (
        another_way("with CRLF", _message("Fix\r\n\r\nthe typo\r\n"), **args),
        another_way(
            "expected text has CRLF",
            _message("Fix\n\nthe typo\n"),
            path="~/r",
            message="Fix\r\n\r\nthe typo",
        ),
        forged("on one line", _message("Fix\\n\\nthe typo"), **args),
    )
