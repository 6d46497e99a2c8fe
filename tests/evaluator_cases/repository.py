"""Test fixture with a git repository, created by git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.process import run
from evaluators.testing.desktop import DesktopFixture, ScratchGuest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evaluators.testing.case import StateMutation

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
    """A desktop whose programs run, with a repository at ``~/r``.

    Attributes:
        git_exit_code: with which git ends on a desktop that cannot run it; 0: git runs.
    """

    runs_programs = True
    git_exit_code = 0

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._commits = 0

    def subject(self) -> ScratchGuest:
        """Create a guest with nothing cached."""
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
