"""Start programs in the user's session, by arguments or by displayed name."""

from __future__ import annotations

import configparser
import contextlib
import difflib
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from provisioning.probe.errors import ProbeError
from provisioning.probe.system.run import kill_group, start_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from provisioning.probe.system.session import Session

_FOLDERS = (
    "/usr/local/share/applications",
    "/usr/share/applications",
    "/var/lib/snapd/desktop/applications",
    "/var/lib/flatpak/exports/share/applications",
)
_GROUP = "Desktop Entry"


class App(NamedTuple):
    """An installed application.

    Attributes:
        app_id: file name without ``.desktop``.
        name: name that menus show.
        generic_name: such as ``Text Editor``; may be empty.
        path: path of its desktop file.
        is_shown: whether menus list it.
    """

    app_id: str
    name: str
    generic_name: str
    path: str
    is_shown: bool


def launch(session: Session, argv: Sequence[str], timeout_s: float) -> None:
    """Start a program detached from the probe, as if from a menu.

    Raises:
        ProbeError: ``not_found`` if there is no such program.
    """
    env = session.app_environment()
    if shutil.which(argv[0], path=env.get("PATH")) is None:
        raise ProbeError("not_found", f"there is no program {argv[0]!r}")
    _start(session, ["/usr/bin/setsid", "--fork", "--", *argv], timeout_s)


def open_app(session: Session, name: str, timeout_s: float) -> dict[str, str]:
    """Start an application by name, generic name or ID, ignoring case.

    Raises:
        ProbeError: ``not_found`` with similar names, or ``failed``.
    """
    apps = list(list_apps(session.identity.home))
    app = choose(apps, name)
    _start(
        session, ["/usr/bin/setsid", "--fork", "--", "/usr/bin/gio", "launch", app.path], timeout_s
    )
    return {"id": app.app_id, "name": app.name}


def choose(apps: Sequence[App], name: str) -> App:
    """Return the application that a name refers to.

    Raises:
        ProbeError: ``not_found`` with similar names.
    """
    wanted = name.strip().lower().removesuffix(".desktop")
    shown = [app for app in apps if app.is_shown]
    for group, keys in (
        (shown, lambda app: (app.name,)),
        (apps, lambda app: (app.app_id,)),
        (shown, lambda app: (app.generic_name,)),
        (apps, lambda app: (app.app_id.rpartition(".")[2],)),
        (shown, lambda app: app.name.split()),
    ):
        for app in group:
            if wanted and wanted in [key.lower() for key in keys(app)]:
                return app
    names = {app.name.lower(): app.name for app in shown}
    near = [names[key] for key in difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)]
    hint = (
        f"; similar: {', '.join(near)}"
        if near
        else f"; available: {', '.join(sorted(names.values()))}"
    )
    raise ProbeError("not_found", f"there is no application {name!r}{hint[:1500]}")


def search(apps: Sequence[App], words: str, most: int) -> list[str]:
    """Return the names of applications in menus that have all words, without starting any."""
    wanted = words.lower().split()
    names = {
        app.name: f"{app.name} {app.generic_name} {app.app_id}".lower()
        for app in apps
        if app.is_shown
    }
    return sorted(name for name, text in names.items() if all(word in text for word in wanted))[
        :most
    ]


def list_apps(home: str) -> Iterator[App]:
    """Return the installed applications, the user's own first."""
    for folder in (os.path.join(home, ".local/share/applications"), *_FOLDERS):
        with contextlib.suppress(OSError):
            for file_name in sorted(os.listdir(folder)):
                if file_name.endswith(".desktop"):
                    app = _read(os.path.join(folder, file_name))
                    if app is not None:
                        yield app


def _read(path: str) -> App | None:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=("#",))
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            parser.read_string(file.read(1 << 18))
        entry = parser[_GROUP]
    except (OSError, configparser.Error, KeyError):
        return None
    if entry.get("Type") != "Application" or entry.get("Hidden", "false") == "true":
        return None
    app_id = os.path.basename(path)[: -len(".desktop")]
    is_shown = entry.get("NoDisplay", "false") != "true"
    return App(app_id, entry.get("Name", app_id), entry.get("GenericName", ""), path, is_shown)


def _start(session: Session, argv: Sequence[str], timeout_s: float) -> None:
    """Start a program that keeps running by itself.

    Its output is discarded: a pipe that nobody reads any more would end it at its first write.
    """
    process = start_program(
        argv,
        identity=session.identity,
        env=session.app_environment(),
        cwd=session.identity.home if os.path.isdir(session.identity.home) else "/",
        output=subprocess.DEVNULL,
    )
    try:
        exit_code = process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        kill_group(process)
        raise ProbeError("timeout", f"{argv[0]} did not end within {timeout_s:g} s") from None
    if exit_code != 0:
        raise ProbeError("failed", f"{argv[0]} ended with {exit_code}")
