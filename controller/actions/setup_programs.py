"""Run and start programs on desktops, and set settings, before a task begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from appliance.base.clock import SYSTEM_CLOCK, wait_until
from appliance.base.errors import ActionError, GuestCallError, nearest
from controller.actions.setup_files import GuestPath, absolute
from evaluators.decorators import setup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Machine

_TIMEOUT_S = 30.0
_WINDOW_EVERY_S = 0.5
_SUFFIX = ".desktop"
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
    """Run a shell command to its end, and check how it ended.

    It leaves nothing in the user's shell history.

    Args:
        machine: the desktop.
        command: for /bin/sh -c.
        user: user (the agent's, in the desktop's session) or root.
        timeout_s: after this it is killed, and the setup has failed.
        exit_code: that it must end with.
        folder: where it runs.
    """
    argv = ("/bin/sh", "-c", command)
    name = None if user == "user" else user
    cwd = absolute(machine, folder)
    result = machine.run(argv, user=name, timeout_s=timeout_s, cwd=cwd)
    if result.exit_code != exit_code:
        output = (result.stderr or result.stdout).decode(errors="replace").strip()
        raise ActionError(
            f"The command ended with {result.exit_code}, not {exit_code}.",
            details=f"$ {command}\n{output[-2000:]}",
        )


@setup(on="desktop")
def set_gsetting(machine: Machine, schema: str, key: str, value: str) -> None:
    """Set a setting of the desktop's session.

    Args:
        machine: the desktop.
        schema: for example org.gnome.desktop.interface.
        key: for example color-scheme.
        value: as `gsettings set` takes it.
    """
    result = machine.run(["gsettings", "set", schema, key, value], timeout_s=_TIMEOUT_S)
    if result.exit_code != 0:
        message = result.stderr.decode(errors="replace").strip()
        raise ActionError(f"gsettings failed on {machine.info.machine_id}.", details=message)


@setup(on="desktop")
def start_app(machine: Machine, name: str) -> None:
    """Start an application by the name it has in the menu.

    Args:
        machine: the desktop.
        name: for example "Terminal".
    """
    try:
        machine.link.call("open_app", {"name": name}, timeout_s=_TIMEOUT_S)
    except GuestCallError as exc:
        raise ActionError(f"start_app cannot start {name!r}.", exc.details or exc.brief) from exc


@setup(on="desktop")
def start_program(
    machine: Machine, desktop_id: DesktopId, args: list[str] | None = None, wait_s: Seconds = 120.0
) -> None:
    """Start an application by the name of its desktop file, and wait until it shows a new window.

    Args:
        machine: the desktop.
        desktop_id: without .desktop, for example libreoffice-calc; `mesocosm image show` lists them.
        args: files or addresses to open; paths may start with ~/.
        wait_s: how long it may take.
    """
    paths = [absolute(machine, word) if word.startswith("~/") else word for word in args or ()]
    _launch(machine, ["launch", _desktop_file(machine, desktop_id), *paths], desktop_id, wait_s)


@setup(on="desktop")
def open_document(
    machine: Machine, path: GuestPath, desktop_id: str = "", wait_s: Seconds = 120.0
) -> None:
    """Open a file in an application, and wait until it shows a new window.

    Args:
        machine: the desktop.
        path: of the file: absolute, or starting with ~/.
        desktop_id: of the application, without .desktop; the one for its type by default.
        wait_s: how long it may take.
    """
    full = absolute(machine, path)
    if machine.files.stat(full) is None:
        raise ActionError(f"There is no file {path} to open.")
    args = ["open", full]
    if desktop_id:
        args = ["launch", _desktop_file(machine, desktop_id), full]
    _launch(machine, args, path, wait_s)


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
    """Return the desktop ids that there are; none where the machine cannot list them."""
    listed = machine.run(["ls", *folders], timeout_s=_TIMEOUT_S).text.splitlines()
    names = {line.removesuffix(_SUFFIX) for line in listed if line.endswith(_SUFFIX)}
    return sorted(names)


def _launch(machine: Machine, args: Sequence[str], what: str, wait_s: float) -> None:
    """Start ``gio`` as a menu of the session does, and wait for a window that was not there.

    The picture that a large program shows while it starts is not waited for: what is done next would be
    lost, or go to another window.
    """
    before = _windows(machine)
    machine.link.call("launch", {"argv": [_GIO, *args]}, timeout_s=_TIMEOUT_S)

    def has_come() -> bool:
        new = {window for window in _windows(machine) - before if not _is_splash(machine, window)}
        return bool(new) and bool(new & _windows(machine))  # it may be gone while it is asked

    if not wait_until(has_come, timeout_s=wait_s, every_s=_WINDOW_EVERY_S, clock=SYSTEM_CLOCK):
        raise ActionError(f"No window of {what} came up within {wait_s:g} s.")


def _windows(machine: Machine) -> set[str]:
    rows = machine.link.call("windows", {}, timeout_s=_TIMEOUT_S)
    listed = rows if isinstance(rows, list) else []
    return {str(row.get("id")) for row in listed if isinstance(row, dict)}


def _is_splash(machine: Machine, window: str) -> bool:
    """Return whether a window says that it is shown while its program starts."""
    try:
        argv = ["xprop", "-id", window, "_NET_WM_WINDOW_TYPE"]
        result = machine.run(argv, timeout_s=_TIMEOUT_S)
    except GuestCallError:
        return False
    return b"_NET_WM_WINDOW_TYPE_SPLASH" in result.stdout
