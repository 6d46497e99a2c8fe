"""Put files and folders on desktops before a task begins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from controller.actions.desktop_icons import wait_for_icons
from evaluators.decorators import (
    SuiteFile,
    setup,
)
from evaluators.desktop.unchanged import REFERENCE_FOLDER, reference_of
from evaluators.guest_paths import PATTERN
from foundation.errors import ActionError, SpecError
from provisioning.links.files_over_link import LinkFiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.protocols import Machine

_COPY_TIMEOUT_S = 120.0
_EXECUTABLE = 0o111

GuestPath = Annotated[str, Field(min_length=1, max_length=1000, pattern=PATTERN)]
"""An absolute path on the guest, or one that starts with ``~/``."""
Mode = Annotated[str, Field(pattern=r"^0?[0-7]{3}$")]
"""Permission bits in octal, as text: ``"0644"``."""
Owner = Literal["user", "root"]


@setup(on="desktop")
def put_file(
    machine: Machine, path: GuestPath, content: str = "", mode: Mode = "0644", owner: Owner = "user"
) -> None:
    """Write a text file; missing folders are created with the same owner.

    Args:
        machine: the desktop.
        path: absolute, or starting with ~/.
        content: the text.
        mode: permission bits, octal, in quotes: "0600" hides a file owned by root from the agent.
        owner: user (the agent) or root. The agent cannot modify a file owned by root in a folder
            owned by root; in its home folder it could still replace the file.
    """
    full = absolute(machine, path)
    _write(machine, full, content.encode(), int(mode, 8), owner)
    wait_for_icons(machine, [full])


@setup(on="desktop")
def copy_files(
    machine: Machine, source: SuiteFile, path: GuestPath, mode: Mode = "0644", owner: Owner = "user"
) -> None:
    """Copy a file, or a folder and its content, from the suite's folder to the desktop.

    Args:
        machine: the desktop.
        source: path in the suite's folder; content is copied byte by byte.
        path: path of the copy: absolute, or starting with ~/.
        mode: permission bits of files, octal, in quotes. Users who can read a folder can also enter
            it; files that are executable in the suite's folder stay executable.
        owner: as in put_file.
    """
    full, bits = absolute(machine, path), int(mode, 8)
    top = Path(source)
    if top.is_file():
        _write(machine, full, top.read_bytes(), _mode_of(top, bits), owner)
        wait_for_icons(machine, [full])
        return
    for entry in _walk(top):
        target = f"{full}/{entry.relative_to(top)}" if entry != top else full
        if entry.is_dir():
            _make_folder(machine, target, bits, owner)
        else:
            _write(machine, target, entry.read_bytes(), _mode_of(entry, bits), owner)
    wait_for_icons(machine, [full, *(f"{full}/{entry.name}" for entry in top.iterdir())])


@setup(on="desktop")
def make_dir(machine: Machine, path: GuestPath, mode: Mode = "0755", owner: Owner = "user") -> None:
    """Create a folder and its missing parents.

    Args:
        machine: the desktop.
        path: absolute, or starting with ~/.
        mode: permission bits, octal, in quotes.
        owner: as in put_file.
    """
    full = absolute(machine, path)
    _run(machine, owner, "mkdir", "-p", full)
    _run(machine, owner, "chmod", mode, full)


@setup(on="desktop")
def keep_reference(machine: Machine, path: GuestPath) -> None:
    """Save a copy of a folder where the agent cannot access it, for nothing_else_changed.

    Args:
        machine: the desktop.
        path: path of the folder: absolute, or starting with ~/.
    """
    full = absolute(machine, path)
    kept = reference_of(full, machine.info.home)
    _run(machine, "root", "mkdir", "-p", "-m", "700", REFERENCE_FOLDER)
    _run(machine, "root", "rm", "-rf", kept)
    _run(machine, "root", "cp", "-a", "--", full, kept)


def _walk(top: Path) -> Iterator[Path]:
    """Yield a folder and everything in it, folders before their content.

    Raises:
        SpecError: it contains a link or a device.
    """
    for path in (top, *sorted(top.rglob("*"))):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise SpecError(f"{path} is neither a file nor a folder, and is not copied.")
        yield path


def _mode_of(path: Path, mode: int) -> int:
    """Return the mode of a copy, executable for its readers if the original is executable."""
    is_executable = path.stat().st_mode & _EXECUTABLE
    return mode | (mode & 0o444) >> 2 if is_executable else mode


def _make_folder(machine: Machine, path: str, mode: int, owner: Owner) -> None:
    _run(machine, owner, "mkdir", "-p", path)
    _run(machine, owner, "chmod", f"{mode | (mode & 0o444) >> 2:o}", path)


def _write(machine: Machine, path: str, data: bytes, mode: int, owner: Owner) -> None:
    user = machine.info.user if owner == "user" else owner
    LinkFiles(machine.link, user=user).put(path, data, mode=mode)


def absolute(machine: Machine, path: str) -> str:
    """Return a path from a task file as an absolute path on the guest."""
    return f"{machine.info.home}/{path[2:]}" if path.startswith("~/") else path


def _run(machine: Machine, owner: Owner, *argv: str) -> None:
    user = None if owner == "user" else owner
    result = machine.run(argv, user=user, timeout_s=_COPY_TIMEOUT_S)
    if result.exit_code != 0:
        message = result.stderr.decode(errors="replace").strip()
        raise ActionError(
            f"{argv[0]} failed on {machine.info.machine_id}.",
            details=f"$ {' '.join(argv)}\n{message}",
        )
