"""Cases of desktop evaluators as archives of files that a machine unpacks.

A case prepares its state in its fixture, as in `make test`; then the paths in its files, links and
arguments are replaced by those on the machine.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.testing.desktop import USER, DesktopFixture
from evaluators.testing.machine import MachineFixture
from evaluators.testing.runner import prepare
from foundation.process import run
from tests.evaluator_cases.machines.exceptions import DIFFERENT_HERE
from tests.evaluator_cases.processes import ProgramsFixture
from tests.evaluator_cases.registry import all_tables
from tests.evaluator_cases.repository import RepositoryFixture
from tests.evaluator_cases.servers import ServerFixture

if TYPE_CHECKING:
    from evaluators.testing.case import Case, CaseTable

PLACES = frozenset({"desktop", "documents", "vision"})
"""Places whose evaluators read a desktop's files, programs or screen."""
ALONE = frozenset({"firefox", "network", "settings", "system", "unchanged"})
"""Modules whose evaluators read fixed paths: each case uses the whole home folder."""
OUTSIDE = ("srv/", "root/.reference/")
"""Folders outside the home folder that are empty on a machine."""
MAX_ENTRIES = 1000
MAX_BYTES = 2 << 20
_SCANNED_BYTES = 1 << 20


class Reason(StrEnum):
    """Why a case runs only with the fixture."""

    SERVER = "the replies come from the fixture's own server"
    PROCESSES = "the fixture runs only its own copies of programs"
    PROGRAMS = "the output of programs comes from a table"
    SCREEN = "windows or frames come from a table"
    SYSTEM = "the case replaces system files that a machine already has"
    ENTRIES = "the case needs a socket, a different user's file, 1,000 files or 2 MiB"
    DIFFERENT = "a machine differs from the fixture (`exceptions.py`)"


@dataclass(frozen=True)
class StagedCase:
    """A case, prepared for a machine.

    Attributes:
        table: the evaluator and its cases.
        case: the case.
        args: arguments with the paths of the machine.
    """

    table: CaseTable
    case: Case
    args: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Evaluator, kind and case."""
        return f"{self.table.mark.name}: {self.case.kind.value}: {self.case.name}"


class _Paths:
    """Translation of a fixture's paths to those on a machine.

    Args:
        fixture: fixture with the state.
        number: number of the case if it has its own folders; None otherwise.
        home: the home folder on the machine.
    """

    def __init__(self, fixture: DesktopFixture, number: int | None, home: str) -> None:
        self._root = str(fixture.folder)
        own = "" if number is None else f"/cases/{number}"
        self._home = f"{home}{own}"
        self._outside = f"/srv{own}" if own else ""
        self._tilde = f"~{own}"

    def translate(self, text: str) -> str:
        """Replace the fixture's paths in a text."""
        text = text.replace(f"{self._root}/home/{USER}", self._home)
        return text.replace(self._root, self._outside)

    def argument(self, value: object) -> Any:
        """Return an argument with translated paths."""
        if isinstance(value, Mapping):
            return {name: self.argument(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.argument(item) for item in value]
        if not isinstance(value, str):
            return value
        if value == "~" or value.startswith("~/"):
            return self._tilde + value[1:]
        if value.startswith(tuple(f"/{place}" for place in OUTSIDE)):
            return self.translate(self._root + value)
        return self.translate(value)


def is_alone(table: CaseTable) -> bool:
    """Return whether the cases of an evaluator run one after the other."""
    return table.evaluator.__module__.rpartition(".")[2] in ALONE


def modules() -> dict[str, list[CaseTable]]:
    """Return the tables of desktop evaluators by the module of the evaluator."""
    tables: dict[str, list[CaseTable]] = {}
    for table in all_tables():
        if table.mark.on in PLACES:
            tables.setdefault(table.evaluator.__module__.removeprefix("evaluators."), []).append(
                table
            )
    return tables


def stage(table: CaseTable, case: Case, number: int, into: Path, home: str) -> StagedCase | Reason:
    """Prepare a case and move its files into a folder named after its number.

    Args:
        table: the evaluator and its cases.
        case: the case.
        number: unique in the archive.
        into: the archive's folder.
        home: the home folder on the machine.

    Returns:
        The case, or the reason why it cannot run on a machine.
    """
    if (table.mark.name, case.name) in DIFFERENT_HERE:
        return Reason.DIFFERENT
    with prepare(table, case) as prepared:
        fixture = prepared.fixture
        assert isinstance(fixture, DesktopFixture)
        reason = _reason_against(fixture)
        if reason is not None:
            return reason
        paths = _Paths(fixture, None if is_alone(table) else number, home)
        args = {name: paths.argument(value) for name, value in fixture.arguments(case.args).items()}
        _translate_files(fixture.folder, paths)
        folder = into / str(number)
        folder.mkdir(parents=True)
        shutil.move(fixture.home, folder / "home")
        (fixture.folder / "home").rmdir()
        shutil.move(fixture.folder, folder / "outside")
    return StagedCase(table, case, args)


@contextlib.contextmanager
def staging_folder() -> Iterator[Path]:
    """Create a folder for an archive, next to those of fixtures."""
    with tempfile.TemporaryDirectory(prefix="mesocosm-staged-") as name:
        yield Path(name)


def pack(folder: Path) -> bytes:
    """Return an archive of a folder; sparse files take no space."""
    archive = folder.with_suffix(".tgz")
    try:
        run(["tar", "-C", str(folder), "-czSf", str(archive), "."], timeout_s=300).require()
        return archive.read_bytes()
    finally:
        archive.unlink(missing_ok=True)


def _reason_against(fixture: DesktopFixture) -> Reason | None:
    if isinstance(fixture, ServerFixture):
        return Reason.SERVER
    if isinstance(fixture, ProgramsFixture) or fixture.processes is not None:
        return Reason.PROCESSES
    if fixture.answers or (isinstance(fixture, RepositoryFixture) and fixture.git_exit_code):
        return Reason.PROGRAMS
    if fixture.windows is not None or (isinstance(fixture, MachineFixture) and fixture.frames):
        return Reason.SCREEN
    return _reason_in_files(fixture)


def _reason_in_files(fixture: DesktopFixture) -> Reason | None:
    entries, stored_bytes = 0, 0
    for path in fixture.folder.rglob("*"):
        status = path.lstat()
        entries, stored_bytes = entries + 1, stored_bytes + status.st_blocks * 512
        is_strange = stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid()
        if is_strange or entries >= MAX_ENTRIES or stored_bytes >= MAX_BYTES:
            return Reason.ENTRIES
        place = str(path.relative_to(fixture.folder))
        is_known = place.startswith((f"home/{USER}/", *OUTSIDE))
        if not stat.S_ISDIR(status.st_mode) and not is_known:
            return Reason.SYSTEM
    return None


def _translate_files(folder: Path, paths: _Paths) -> None:
    for path in folder.rglob("*"):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            target = str(path.readlink())
            if str(folder) in target:
                path.unlink()
                path.symlink_to(paths.translate(target))
        elif stat.S_ISREG(status.st_mode) and status.st_size < _SCANNED_BYTES:
            _translate_text(path, folder, paths)


def _translate_text(path: Path, folder: Path, paths: _Paths) -> None:
    data = path.read_bytes()
    if os.fsencode(folder) in data and b"\0" not in data:
        status = path.stat()
        path.write_bytes(
            paths.translate(data.decode("utf-8", "surrogateescape")).encode(
                "utf-8", "surrogateescape"
            )
        )
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
