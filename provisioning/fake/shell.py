"""The commands of the fake desktop: those of its terminal, and those that task setups run."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from provisioning.fake.machine import FakeFile
from provisioning.protocols import EndCause

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foundation.clock import Clock

HOME = "/home/user"


class ShellState(Protocol):
    """The state that commands read and change."""

    files: dict[str, FakeFile]
    folders: set[str]
    settings: dict[tuple[str, str], str]


class ShellDesktop(Protocol):
    """The desktop on which commands run."""

    clock: Clock

    @property
    def state(self) -> ShellState:
        """Return its files, folders and settings."""
        ...

    def names(self) -> Iterable[str]:
        """Return the paths of all files."""
        ...

    def end(self, cause: EndCause, detail: str) -> None:
        """Stop the desktop for a reason."""
        ...


def run_command(desktop: ShellDesktop, argv: list[str]) -> str | None:  # noqa: C901, PLR0911, PLR0912 - one case per command
    """Run a command line, in which ``>`` and ``&&`` are separate arguments.

    Returns:
        Its output, or None for a command that is unknown or fails.
    """
    state = desktop.state
    match argv:
        case []:
            return ""
        case ["/bin/sh", "-c", line]:
            return run_line(desktop, line)
        case ["echo" | "printf", *arguments, ">", path]:
            end = "\n" if argv[0] == "echo" else ""
            if _is_folder(state, absolute(path)):
                return None
            _write(desktop, absolute(path), (" ".join(arguments) + end).encode())
            return ""
        case ["poweroff"]:
            desktop.end(EndCause.GUEST, "The guest shut down.")
            return ""
        case ["touch", path]:
            if not _is_folder(state, absolute(path)):
                _write(desktop, absolute(path), b"")
            return ""
        case ["rm", "-rf", path] | ["rm", path]:
            _remove(state, absolute(path))
            return ""
        case ["mkdir", "-p", "-m", _, *paths] | ["mkdir", "-p", *paths] | ["mkdir", *paths]:
            folders = {absolute(path) for path in paths}
            if folders & set(state.files):
                return None
            state.folders |= folders
            return ""
        case ["chmod", mode, path]:
            return _set_mode(state, absolute(path), int(mode, 8))
        case ["cp", "-a" | "-r", *_, source, target] | ["cp", source, target]:
            return _copy(state, absolute(source), absolute(target))
        case ["mv", source, target]:
            output = _copy(state, absolute(source), absolute(target))
            _remove(state, absolute(source))
            return output
        case ["ls", *paths]:
            inside = {absolute(path) for path in paths or [HOME]}
            names = [name.rpartition("/") for name in desktop.names()]
            if not inside & {HOME, *state.folders, *(folder for folder, _, _ in names)}:
                return None
            return "".join(f"{name}\n" for folder, _, name in names if folder in inside)
        case ["cat", path]:
            file = state.files.get(absolute(path))
            return None if file is None else file.data.decode()
        case ["gsettings", "set", schema, key, value]:
            state.settings[schema, key] = value.strip("'")
            return ""
        case ["gsettings", "get", schema, key]:
            return f"'{state.settings.get((schema, key), '')}'\n"
        case _:
            return None


def absolute(word: str) -> str:
    """Return an argument of a command line as an absolute path."""
    if word.startswith("~/"):
        return f"{HOME}/{word[2:]}"
    return word if word.startswith("/") else f"{HOME}/{word}"


def run_line(desktop: ShellDesktop, line: str) -> str | None:
    """Run commands joined by ``&&``; return None if one of them is unknown or fails.

    Raises:
        ValueError: a quote is not closed.
    """
    printed, command = "", list[str]()
    for word in [*shlex.split(line, comments=True), "&&"]:
        if word != "&&":
            command.append(word)
            continue
        output = run_command(desktop, command)
        if output is None:
            return None
        printed, command = printed + output, []
    return printed


def _write(desktop: ShellDesktop, path: str, data: bytes) -> None:
    before = desktop.state.files.get(path)
    mode, owner = (before.mode, before.owner) if before else (0o644, "user")
    desktop.state.files[path] = FakeFile(data, mode, desktop.clock.now_s(), owner)


def _remove(state: ShellState, path: str) -> None:
    for name in [name for name in state.files if _is_in(name, path)]:
        del state.files[name]
    state.folders -= {name for name in state.folders if _is_in(name, path)}


def _copy(state: ShellState, source: str, target: str) -> str | None:
    files = {name: file for name, file in state.files.items() if _is_in(name, source)}
    folders = {name for name in state.folders if _is_in(name, source)}
    if not files and not folders:
        return None
    target = target.rstrip("/")
    if source in files and _is_folder(state, target):
        target = f"{target}/{source.rpartition('/')[2]}"
    for name, file in files.items():
        state.files[target + name[len(source) :]] = replace(file)
    state.folders |= {target + name[len(source) :] for name in folders}
    return ""


def _set_mode(state: ShellState, path: str, mode: int) -> str | None:
    if path in state.files:
        state.files[path].mode = mode
        return ""
    return "" if _is_folder(state, path) else None


def _is_folder(state: ShellState, path: str) -> bool:
    below = any(_is_in(name, path) for name in state.files if name != path)
    return path in state.folders or below


def _is_in(name: str, path: str) -> bool:
    return name == path or name.startswith(f"{path.rstrip('/')}/")
