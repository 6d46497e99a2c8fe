"""Run the unit tests once with every supported Python on this host, each in an environment of its own.

Debian 13 and Ubuntu 24.04 have newer interpreters than the one that the appliance was set up with. Environments
are kept in ``.nightly/`` and updated if the lock files changed.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.process import run, stream
from tests.tiers import TIER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REPOSITORY = Path(__file__).resolve().parents[2]
OLDEST = (3, 11)
_NEWEST_MINOR = 20
_INSTALL_S, _TESTS_S = 1800.0, 3600.0
_ASK = "import sys, ensurepip, venv; print(*sys.version_info[:3], sys.implementation.name)"

Version = tuple[int, int, int]


def candidates() -> Iterator[Path]:
    """Yield programs that may be a Python: this one, those in the path, and those of pyenv."""
    yield Path(sys.executable)
    for minor in range(OLDEST[1], _NEWEST_MINOR + 1):
        if found := shutil.which(f"python3.{minor}"):
            yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/*/bin/python3"))


def find_interpreters(programs: Iterable[Path]) -> dict[Version, Path]:
    """Return the newest supported CPython of each minor version that can make environments.

    Args:
        programs: programs to ask for their version; others than Python are ignored.
    """
    found: dict[tuple[int, int], tuple[Version, Path]] = {}
    for program in programs:
        answer = run([str(program), "-I", "-c", _ASK], timeout_s=30.0)
        match = re.fullmatch(r"(\d+) (\d+) (\d+) cpython", answer.text.strip())
        if answer.exit_code != 0 or match is None:
            continue
        major, minor, micro = map(int, match.groups())
        version = (major, minor, micro)
        if (major, minor) < OLDEST:
            continue
        if (major, minor) not in found or found[major, minor][0] < version:
            found[major, minor] = version, program
    return dict(sorted(found.values()))


def run_tests(version: Version, program: Path) -> tuple[bool, str]:
    """Run the unit tests with one interpreter; return whether they passed, and their last line."""
    venv = REPOSITORY / ".nightly" / f"venv-{version[0]}.{version[1]}"
    installed = stream(
        ["sh", "appliance/bringup/venv.sh", str(venv), "requirements-dev.lock"],
        on_line=print,
        timeout_s=_INSTALL_S,
        env={"PYTHON": str(program)},
        cwd=REPOSITORY,
    )
    if installed.exit_code != 0:
        return False, "no environment"
    last = ""

    def show(line: str) -> None:
        nonlocal last
        print(line, flush=True)  # noqa: T201 - the job's log
        last = line.strip("= ") or last

    argv = [str(venv / "bin/python"), "-m", "pytest", "-q", "-n", "2", "tests/unit"]
    # Tests that take minutes belong to other jobs.
    ended = stream(argv, on_line=show, timeout_s=_TESTS_S, env={TIER: ""}, cwd=REPOSITORY)
    return ended.exit_code == 0, re.sub(r" in [\d.]+s.*", "", last)


def main() -> int:
    """Return 0 if the unit tests pass with every interpreter, else 1."""
    rows, is_passed = [], True
    for version, program in find_interpreters(candidates()).items():
        print(f"== {program}", flush=True)  # noqa: T201 - the job's log
        passed, last = run_tests(version, program)
        is_passed = is_passed and passed
        rows.append(f"{'.'.join(map(str, version))}: {last}")
    print(f"unit tests in {len(rows)} interpreters: {'; '.join(rows)}")  # noqa: T201 - the summary
    return 0 if is_passed and rows else 1


if __name__ == "__main__":
    sys.exit(main())
