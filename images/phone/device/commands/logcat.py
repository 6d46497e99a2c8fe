"""The commands ``logcat`` and ``log``.

Source: AOSP ``system/logging/logcat``, ``logprint.cpp``; toybox ``log``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from images.phone.device.commands.base import CommandError
from images.phone.device.log import PRIORITIES

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation, Running
    from images.phone.device.log import LogEntry

_BEGINNING = "--------- beginning of main\n"
_POLL_S = 0.2
_FILTER = re.compile(r"([^:]+|\*)(?::([VDIWEFS*]))?", re.IGNORECASE)
_FORMATS = ("brief", "color", "long", "process", "raw", "tag", "thread", "threadtime", "time")
# An expression that is fast for any line: no repetition except a few ".*".
_SAFE_PATTERN = re.compile(r"\^?(?:[^\\^$*+?{}()\[\]]|(?<=\.)\*|\\[.*+?()\[\]{}^$|\\])*\$?")
_MAX_WILDCARDS = 2
_SILENT = len(PRIORITIES)
_USAGE = "usage: logcat [-d] [-c] [-g] [-s] [-t COUNT] [-v FORMAT] [-e REGEX] [TAG:PRIORITY]..."


@dataclass
class _Request:
    is_dump: bool = False
    is_clear: bool = False
    is_size: bool = False
    count: int = 0
    style: str = "threadtime"
    pattern: re.Pattern[str] | None = None
    default: int = 0
    tags: dict[str, int] = field(default_factory=dict)

    def wants(self, entry: LogEntry) -> bool:
        """Return whether an entry passes the filters."""
        if self.pattern is not None and not self.pattern.search(entry.message):
            return False
        return PRIORITIES.index(entry.priority) >= self.tags.get(entry.tag, self.default)


def follows(args: list[str]) -> bool:
    """Return whether a call follows new entries."""
    try:
        request = _read(args)
    except CommandError:
        return False
    return not (request.is_dump or request.is_clear or request.is_size)


def run_logcat(call: Invocation) -> str:
    """Print the current log."""
    request, log = _read(call.args), call.phone.log
    if request.is_clear:
        log.clear()
        return ""
    if request.is_size:
        return "main: ring buffer is 1 MiB (256 KiB consumed), max entry is 5120 B\n"
    entries = [entry for entry in log.entries() if request.wants(entry)]
    entries = entries[-request.count :] if request.count else entries
    return _BEGINNING + "".join(_format(entry, request.style) for entry in entries)


def follow_log(call: Invocation, running: Running) -> str:
    """Print the log, and follow it until the caller ends the command."""
    request, after = _read(call.args), 0
    running.write(_BEGINNING.encode())
    while not running.ended.is_set():
        entries = call.phone.log.wait(after, _POLL_S)
        if entries:
            after = entries[-1].number
            lines = [_format(entry, request.style) for entry in entries if request.wants(entry)]
            running.write("".join(lines).encode(errors="replace"))
    return ""


def run_log(call: Invocation) -> str:
    """Write a line to the log."""
    args, tag, priority = list(call.args), "log", "I"
    while args and args[0] in {"-t", "-p"} and len(args) > 1:
        option, value = args.pop(0), args.pop(0)
        if option == "-t":
            tag = value
        elif value.upper() in PRIORITIES and len(value) == 1:
            priority = value.upper()
        else:
            raise CommandError(f"log: bad -p '{value}'")
    if not args:
        raise CommandError("usage: log [-p PRIORITY] [-t TAG] MESSAGE...")
    call.phone.log.write(priority, tag, " ".join(args), pid=2000)
    return ""


def _read(args: list[str]) -> _Request:
    request, rest = _Request(), list(args)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word in {"-d", "--dump"}:
            request.is_dump = True
        elif word in {"-c", "--clear"}:
            request.is_clear = True
        elif word in {"-g", "--buffer-size"} or name == "--buffer-size":
            request.is_size = True
        elif word == "-s":
            request.default = _SILENT
        elif name in _VALUES:
            if not equals:
                value = _next(rest, word)
            _set(request, name, value)
        elif word.startswith("-"):
            raise CommandError(f"logcat: unknown option {word}\n{_USAGE}")
        else:
            _filter(request, word)
    return request


_VALUES = frozenset(
    (*("-t", "-T", "-v", "-e", "-b", "-m", "--format", "--regex", "--buffer"), "--pid", "--tail")
)


def _next(rest: list[str], option: str) -> str:
    if not rest:
        raise CommandError(f"logcat: option {option} needs a value\n{_USAGE}")
    return rest.pop(0)


def _set(request: _Request, option: str, value: str) -> None:
    if option in {"-t", "-T", "--tail"}:
        if not (value.isascii() and value.isdigit()):
            raise CommandError(f"logcat: {option} wants a count, not '{value}'")
        request.count = int(value)
        request.is_dump = request.is_dump or option == "-t"
    elif option in {"-v", "--format"}:
        for style in value.split(","):
            if style in _FORMATS and style != "color":
                request.style = style
            elif style not in {"color", "year", "usec", "UTC", "printable", "descriptive"}:
                raise CommandError(f'logcat: Invalid parameter "{style}" to -v')
    elif option in {"-e", "--regex"}:
        if not _SAFE_PATTERN.fullmatch(value) or value.count(".*") > _MAX_WILDCARDS:
            raise CommandError(f"logcat: the reference phone cannot search for '{value}'")
        request.pattern = re.compile(value)


def _filter(request: _Request, word: str) -> None:
    match = _FILTER.fullmatch(word)
    if match is None:
        raise CommandError(f"logcat: Invalid filter expression '{word}'")
    letter = (match[2] or "V").upper()
    level = _SILENT if letter == "S" else max(0, PRIORITIES.find(letter))
    if match[1] == "*":
        request.default = level
    else:
        request.tags[match[1]] = level


def _format(entry: LogEntry, style: str) -> str:
    moment = datetime.fromtimestamp(entry.time_s, tz=timezone.utc)  # noqa: UP017 - 3.10
    clock = f"{moment:%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"
    level, tag, text, pid = entry.priority, entry.tag, entry.message, entry.pid
    shown = {
        "brief": f"{level}/{tag:<8}({pid:5d}): {text}",
        "long": f"[ {clock} {pid:5d}:{pid:5d} {level}/{tag} ]\n{text}\n",
        "process": f"{level}({pid:5d}) {text}  ({tag})",
        "raw": text,
        "tag": f"{level}/{tag:<8}: {text}",
        "thread": f"{level}({pid:5d}:{pid:5d}) {text}",
        "threadtime": f"{clock} {pid:5d} {pid:5d} {level} {tag:<8}: {text}",
        "time": f"{clock} {level}/{tag:<8}({pid:5d}): {text}",
    }
    return f"{shown[style]}\n"
