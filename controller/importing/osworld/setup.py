"""OSWorld's setup steps as ours."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from controller.importing.errors import NotCarriedError
from controller.importing.osworld.job import DESKTOP, files_of, home_path
from controller.importing.osworld.shell import (
    program_of,
    programs_of,
    shell_command,
    text_of,
    without_session,
)
from controller.importing.osworld.table import mapping, require

if TYPE_CHECKING:
    from controller.importing.draft import Row
    from controller.importing.osworld.file import OsworldStep
    from controller.importing.osworld.job import Job

_TERMINAL = "org.gnome.Terminal"
_DRIVES = re.compile(r"pyautogui\.\w+")
_HARMLESS = frozenset({"click", "moveTo", "FAILSAFE", "PAUSE"})
_OPENS_TERMINAL = re.compile(r"hotkey\(\[?\s*['\"]ctrl['\"],\s*['\"]alt['\"],\s*['\"]t['\"]")
_SOCKETS = ("socat",)
"""Programs that only connect OSWorld's host with Chrome."""


def add_setup(job: Job) -> None:
    """Add a task's setup; what cannot be carried over is refused or missing."""
    for step in job.task.config:
        try:
            _add(job, step)
        except NotCarriedError as exc:
            job.draft.refuse(exc.kind, exc.brief)


def _add(job: Job, step: OsworldStep) -> None:
    entry = require(mapping().setup, step.type, "setup")
    if step.type == "download":
        for file in files_of(step.parameters):
            path = job.fixtures.of_url(str(file.get("url")), job.draft.id)
            job.draft.place(DESKTOP, path, home_path(file.get("path")))
    elif step.type == "open":
        opened = home_path(step.parameters.get("path"))
        job.draft.setup.append(_step("open_document", path=opened))
    elif step.type == "launch":
        _launch(job, step.parameters.get("command"))
    elif entry.ours:
        _execute(job, step)
    elif step.type != "sleep":
        job.draft.remark("setup", f"{step.type}: {entry.note}")


def _step(name: str, **args: object) -> Row:
    given = {key: value for key, value in args.items() if value not in ([], None)}
    row: Row = {"on": DESKTOP, "do": name, "with": given}
    return row


def _launch(job: Job, command: object) -> None:
    words = shlex.split(text_of(command))
    while words and re.match(r"^\w+=", words[0]):
        words = words[1:]
    if not words:
        raise NotCarriedError("setup", "launch: no command")
    name = words[0].rpartition("/")[2]
    if name in _SOCKETS:
        return
    known = {**mapping().programs, **(mapping().programs_of_images if job.image else {})}
    for count in (2, 1):
        desktop_id = known.get(" ".join([name, *words[1:count]]))
        if desktop_id and len(words) >= count:
            args = words[count:]
            job.draft.setup.append(_step("start_program", desktop_id=desktop_id, args=args))
            return
    raise NotCarriedError("application", f"launch: {name} is not on the desktop")


def _execute(job: Job, step: OsworldStep) -> None:
    given = step.parameters.get("command")
    text = text_of(given)
    if "pyautogui" in text:
        _drive(job, program_of(given))
        return
    if step.parameters.get("until"):
        raise NotCarriedError("setup", f"{step.type}: until")
    words = without_session(text).split()
    if words[:1] == ["gnome-terminal"]:
        args = shlex.split(without_session(text))[1:]
        job.draft.setup.append(_step("start_program", desktop_id=_TERMINAL, args=args))
        return
    if words[:1] == ["xdg-open"]:
        args = shlex.split(text)[1:]
        nautilus = mapping().programs["nautilus"]
        job.draft.setup.append(_step("start_program", desktop_id=nautilus, args=args))
        return
    _require_programs(job, programs_of(text))
    command = shell_command(given)
    if command is None:
        raise NotCarriedError("setup", f"{step.type}: only a part is root's: `{text[:80]}`")
    user = "root" if command.is_root else None
    job.draft.setup.append(_step("run", command=command.text, user=user))


def _require_programs(job: Job, programs: list[str]) -> None:
    for name in programs:
        if name in mapping().programs_of_network:
            raise NotCarriedError("network", f"a setup command uses {name}")
        if name in mapping().programs_lacking and not job.image:
            raise NotCarriedError("program", f"a setup command uses {name}")


def _drive(job: Job, text: str) -> None:
    """Carry over a program that presses keys: one that opens a terminal, or only clicks once."""
    used = {name.removeprefix("pyautogui.") for name in _DRIVES.findall(text)}
    if _OPENS_TERMINAL.search(text) and used <= _HARMLESS | {"hotkey"}:
        job.draft.setup.append(_step("start_program", desktop_id=_TERMINAL))
    elif used <= _HARMLESS:
        job.draft.remark("gui", "execute: a click that only gives a window the focus")
    else:
        names = ", ".join(sorted(used))
        job.draft.miss("gui", f"execute: presses or scrolls in the setup ({names})")
