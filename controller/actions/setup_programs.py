"""Setup operations for desktops: run and start programs, and change settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field

from controller.actions.readiness import Expected, Readiness
from controller.actions.setup_files import GuestPath, absolute
from evaluators.decorators import setup
from foundation.errors import ActionError, GuestCallError, nearest
from foundation.host_load import stretched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Machine

_TIMEOUT_S = 30.0
_SUFFIX = ".desktop"
_FILE = "file://"
_GIO = "/usr/bin/gio"
_APPLICATIONS = (
    "/usr/local/share/applications",
    "/usr/share/applications",
    "/var/lib/flatpak/exports/share/applications",
)

Seconds = Annotated[float, Field(gt=0, le=600)]
DesktopId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")]


@setup(on="desktop")
def run(  # noqa: PLR0917 - each is an option of task files
    machine: Machine,
    command: str,
    user: Literal["user", "root"] = "user",
    timeout_s: Seconds = 60.0,
    exit_code: int = 0,
    folder: GuestPath = "~/",
) -> None:
    """Run a shell command, wait for it and check its exit code.

    The command does not appear in the user's shell history.

    Args:
        machine: the desktop.
        command: command for /bin/sh -c.
        user: user (the agent's, in the desktop's session) or root.
        timeout_s: time limit on an idle host; when it expires, the command is killed and the setup
            fails.
        exit_code: expected exit code.
        folder: working directory.
    """
    argv = ("/bin/sh", "-c", command)
    name = None if user == "user" else user
    cwd = absolute(machine, folder)
    result = machine.run(argv, user=name, timeout_s=stretched(timeout_s), cwd=cwd)
    if result.exit_code != exit_code:
        output = (result.stderr or result.stdout).decode(errors="replace").strip()
        raise ActionError(
            f"The command ended with {result.exit_code}, not {exit_code}.",
            details=f"$ {command}\n{output[-2000:]}",
        )


@setup(on="desktop")
def set_gsetting(machine: Machine, schema: str, key: str, value: str) -> None:
    """Change a setting of the desktop's session.

    Args:
        machine: the desktop.
        schema: for example org.gnome.desktop.interface.
        key: for example color-scheme.
        value: value in the syntax of `gsettings set`.
    """
    result = machine.run(["gsettings", "set", schema, key, value], timeout_s=stretched(_TIMEOUT_S))
    if result.exit_code != 0:
        message = result.stderr.decode(errors="replace").strip()
        raise ActionError(f"gsettings failed on {machine.info.machine_id}.", details=message)


@setup(on="desktop")
def start_app(machine: Machine, name: str, wait_s: Seconds = 120.0) -> None:
    """Start an application by its name in the menu, and wait until it is ready for input.

    Args:
        machine: the desktop.
        name: for example "Terminal".
        wait_s: time limit on an idle host; a busy one stretches it.
    """
    readiness = Readiness(machine, Expected(name))
    try:
        machine.link.call("open_app", {"name": name}, timeout_s=stretched(_TIMEOUT_S))
    except GuestCallError as exc:
        raise ActionError(f"start_app cannot start {name!r}.", exc.details or exc.brief) from exc
    readiness.wait(wait_s)


@setup(on="desktop")
def start_program(
    machine: Machine, desktop_id: DesktopId, args: list[str] | None = None, wait_s: Seconds = 120.0
) -> None:
    """Start an application by the name of its desktop file, and wait until it is ready for input.

    A page or document that it is given must be loaded, the program idle and the picture still.

    Args:
        machine: the desktop.
        desktop_id: without .desktop, such as libreoffice-calc; `mesocosm image show` lists them.
        args: files or addresses to open; paths may start with ~/.
        wait_s: time limit on an idle host; a busy one stretches it.
    """
    paths = [absolute(machine, word) if word.startswith("~/") else word for word in args or ()]
    for word in paths:
        if word.startswith(_FILE) and machine.files.stat(unquote(urlsplit(word).path)) is None:
            raise ActionError(f"There is no file {word} to open.")
    _launch(
        machine,
        ["launch", _desktop_file(machine, desktop_id), *paths],
        Expected(desktop_id),
        wait_s,
    )


@setup(on="desktop")
def open_document(
    machine: Machine, path: GuestPath, desktop_id: str = "", wait_s: Seconds = 120.0
) -> None:
    """Open a file in an application, and wait until the screen shows it.

    The document must be loaded, with content if the file has some, the program idle and the picture
    still.

    Args:
        machine: the desktop.
        path: path of the file: absolute, or starting with ~/.
        desktop_id: the application, without .desktop; by default the one for the file's type.
        wait_s: time limit on an idle host; a busy one stretches it.
    """
    full = absolute(machine, path)
    if machine.files.stat(full) is None:
        raise ActionError(f"There is no file {path} to open.")
    args = ["open", full]
    if desktop_id:
        args = ["launch", _desktop_file(machine, desktop_id), full]
    _launch(machine, args, Expected(path, full), wait_s)


def _desktop_file(machine: Machine, desktop_id: str) -> str:
    own = f"{machine.info.home}/.local/share/applications"
    for folder in (own, *_APPLICATIONS):
        path = f"{folder}/{desktop_id}{_SUFFIX}"
        if machine.files.stat(path) is not None:
            return path
    near = nearest(desktop_id, _desktop_ids(machine, (own, *_APPLICATIONS)))
    hint = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise ActionError(
        f"There is no application {desktop_id!r} on {machine.info.machine_id}.",
        resolution=f"{hint}`mesocosm image show` lists the desktop files of the image.",
    )


def _desktop_ids(machine: Machine, folders: Sequence[str]) -> list[str]:
    """Return the desktop ids on a machine; empty if the machine cannot list them."""
    listed = machine.run(["ls", *folders], timeout_s=stretched(_TIMEOUT_S)).text.splitlines()
    names = {line.removesuffix(_SUFFIX) for line in listed if line.endswith(_SUFFIX)}
    return sorted(names)


def _launch(machine: Machine, args: Sequence[str], expected: Expected, wait_s: float) -> None:
    """Start ``gio`` as the session's menu does, and wait until the program shows its document."""
    readiness = Readiness(machine, expected)
    machine.link.call("launch", {"argv": [_GIO, *args]}, timeout_s=stretched(_TIMEOUT_S))
    readiness.wait(wait_s)
