"""Test fixture of a desktop on which a program holds the lock of a Firefox profile."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.evaluator_cases.processes import ProgramsFixture

if TYPE_CHECKING:
    from evaluators.testing.case import StateMutation
    from tests.evaluator_cases.processes import Started

FIREFOX = "/usr/lib/firefox/firefox"
PROFILE = "~/.mozilla/firefox/ab12.default-esr"
# The process keeps an fcntl lock when it executes a different program.
_LOCK = """
import fcntl, os, sys
lock, program, kind = sys.argv[1:]
file = os.open(lock, os.O_RDWR | os.O_CREAT)
{"posix": fcntl.lockf, "flock": fcntl.flock}[kind](file, fcntl.LOCK_EX)
os.set_inheritable(file, True)
os.execv(program, [program])
"""


class BrowserFixture(ProgramsFixture):
    """A desktop whose Firefox is a copy of ``cat`` that locks a profile as Firefox does."""

    def browse(
        self, profile: str = PROFILE, program: str = FIREFOX, *, kind: str = "posix"
    ) -> Started:
        """Start a program that locks a profile.

        Args:
            profile: folder of the profile.
            program: program to run; the system's Firefox is always installed.
            kind: kind of the lock: ``posix`` like Firefox's own, or ``flock``.
        """
        for path in {FIREFOX, program}:
            if not self.at(path).exists():
                self.program(path)
        lock = str(self.folder_at(profile) / ".parentlock")
        return self._run([sys.executable, "-ISE", "-c", _LOCK, lock, str(self.at(program)), kind])

    def state_mutations(self) -> list[StateMutation]:
        """Return mutations of the files of profiles, and the end of the browser."""
        mutations = [
            (name, mutate)
            for name, mutate in super().state_mutations()
            if not name.startswith(FIREFOX[1:]) and ".parentlock" not in name
        ]
        return [*mutations, ("firefox: killed", self._end_all)]

    def _end_all(self) -> None:
        for process in self._started:
            self.end(process)
