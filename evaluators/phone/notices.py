"""Parse notifications and toasts in the output of ``dumpsys notification``.

Source: AOSP ``NotificationManagerService.java`` (``dumpImpl``), ``NotificationRecord.java``
(``dump``, ``dumpNotification``) and ``TextToastRecord.java`` (``toString``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_RECORD = re.compile(r"^ {2,6}NotificationRecord\(0x[0-9a-f]+:? pkg=([\w.]+) (.*)$", re.MULTILINE)
_CHANNEL = re.compile(r"\bNotification\(channel=(\S+)")
_EXTRA = re.compile(r"^ +android\.(title|text)=\w+ \(", re.MULTILINE)
# What follows a value: another extra, or the closing bracket.
_AFTER_EXTRA = re.compile(r"\)\n(?= +(?:[\w.]+=|\}))")
_TOAST = re.compile(
    r"^ +TextToastRecord\{\S+ \d+:([\w.]+)/\S+ .*?\btext=(.*?) duration=\d+\}$",
    re.MULTILINE | re.DOTALL,
)
_KEY_BARS = 4
_KEPT = re.compile(r"package=([\w.]*)\ntext=(.*)", re.DOTALL)
# Headings and fields of the service itself; records have more indentation.
_NEXT_SECTION = re.compile(r"^ {2}(?:[A-Z][\w ]*:$|m[A-Z]\w*=)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification that has not been dismissed.

    Attributes:
        package: the application that posted it.
        channel: id of its channel.
        title: title; empty if it has none.
        text: text; empty if it has none.
    """

    package: str
    channel: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Toast:
    """A short message at the bottom of the screen.

    Attributes:
        package: the application that showed it.
        text: its complete text.
    """

    package: str
    text: str


def parse_notifications(output: str) -> list[Notification]:
    """Parse ``dumpsys notification --noredact`` and return notifications in the phone's order.

    Only posted notifications are included, not enqueued, snoozed or dismissed ones.
    """
    block = _section(output, "  Notification List:\n")
    heads = list(_outside(_RECORD, block))
    ends = [*(head.start() for head in heads), len(block)][1:]
    notifications = []
    for head, end in zip(heads, ends, strict=True):
        channel = _CHANNEL.search(head[2])
        values = _extras(block[head.end() : end])
        notifications.append(Notification(head[1], channel[1] if channel else "", **values))
    return notifications


def parse_key_packages(output: str) -> list[str]:
    """Parse ``cmd notification list`` and return the package of each posted notification.

    Source: AOSP ``StatusBarNotification.key()``: user, package, id, tag and uid, separated by bars.
    """
    return [key.split("|")[1] for key in output.splitlines() if key.count("|") >= _KEY_BARS]


def parse_toasts(output: str) -> list[Toast]:
    """Parse the toasts in ``dumpsys notification``: the shown one first, then the queued ones."""
    return [Toast(*fields) for fields in _TOAST.findall(_section(output, "  Toast Queue:\n"))]


def parse_kept_toast(output: str) -> Toast | None:
    """Parse ``dumpsys reference_phone toast`` and return the last toast, or None if there was none."""
    match = _KEPT.match(output.removesuffix("\n"))
    return Toast(match[1], match[2]) if match else None


def _section(output: str, heading: str) -> str:
    """Return the text between a heading and the next one; empty if there is no such heading."""
    _, separator, rest = output.partition(heading)
    end = next(_outside(_NEXT_SECTION, rest), None) if separator else None
    return rest[: end.start()] if end else rest


def _outside(pattern: re.Pattern[str], block: str) -> Iterator[re.Match[str]]:
    """Iterate over the matches of a pattern outside titles and texts of notifications."""
    at = 0
    while match := pattern.search(block, at):
        value = _EXTRA.search(block, at, match.start())
        if value is None:
            yield match
            at = match.end()
        else:
            end = _AFTER_EXTRA.search(block, value.end())
            at = end.end() if end else value.end()


def _extras(block: str) -> dict[str, str]:
    """Return title and text; text within one of them that looks like the other does not count."""
    values: dict[str, str] = {}
    at = 0
    while match := _EXTRA.search(block, at):
        end = _AFTER_EXTRA.search(block, match.end())
        if end is not None:
            values.setdefault(match[1], block[match.end() : end.start()])
        at = end.end() if end else match.end()
    return {"title": "", "text": "", **values}
