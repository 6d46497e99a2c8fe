"""Read a phone's state over its shell, each thing once a wave."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from defusedxml import ElementTree

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from appliance.base.clock import Clock

_RESUMED = (
    re.compile(r"topResumedActivity=ActivityRecord\{\S+ u\d+ ([\w.]+)/([\w.$]+)"),
    re.compile(r"\bm?ResumedActivity: ActivityRecord\{\S+ u\d+ ([\w.]+)/([\w.$]+)"),
)
_ROW = re.compile(r"^Row: (\d+) _id=(\d+), ", re.MULTILINE)
_HIERARCHY_END = "</hierarchy>"
_MAX_XML_CHARS = 8 << 20


class ShellResult(Protocol):
    """What a command left behind, such as `appliance.base.process.CommandResult`."""

    @property
    def exit_code(self) -> int:
        """0 when it went well."""
        ...

    @property
    def stdout(self) -> bytes:
        """What it printed."""
        ...


class Shell(Protocol):
    """A phone's shell, as every phone `Machine` offers it over ADB."""

    def shell(self, command: str, timeout_s: float = ...) -> ShellResult:
        """Run a command line; a non-zero exit code is a result."""
        ...


@dataclass(frozen=True, slots=True)
class UiNode:
    """One node of the UI hierarchy that is on the screen.

    Attributes:
        text: what it shows.
        description: its content description.
        resource_id: such as ``com.android.settings:id/title``; empty when it has none.
        package: whose window it is in.
        role: its class.
        is_checked: of switches and check boxes.
    """

    text: str
    description: str
    resource_id: str
    package: str
    role: str
    is_checked: bool


class PhoneView:
    """What evaluators see of a phone; made anew for each wave, remembers what it has read.

    Args:
        shell: the phone's.
        timeout_s: bound of all that is read through this view.
        clock: whose time counts.
    """

    def __init__(self, shell: Shell, *, timeout_s: float, clock: Clock = SYSTEM_CLOCK) -> None:
        self._shell = shell
        self._clock = clock
        self._deadline_s = clock.monotonic_s() + timeout_s
        self._read: dict[tuple[str, ...], str] = {}
        self._nodes: tuple[UiNode, ...] | None = None

    def front_activity(self) -> tuple[str, str]:
        """Give package and activity in front, two empty texts when nothing is resumed.

        Source: ``dumpsys activity activities``; Android 10 and later say ``topResumedActivity``
        or ``ResumedActivity``, older ones ``mResumedActivity``.

        Raises:
            EvaluationError: the phone does not say.
        """
        said = self.read("dumpsys", "activity", "activities")
        if "ctivit" not in said:
            raise EvaluationError("dumpsys says nothing about activities.", details=said[:400])
        for pattern in _RESUMED:
            if found := pattern.search(said):
                return found[1], found[2]
        return "", ""

    def hierarchy(self) -> Sequence[UiNode]:
        """Give the nodes on the screen in document order.

        Source: ``uiautomator dump /dev/tty`` prints XML and then its own closing words.

        Raises:
            EvaluationError: the phone gives no hierarchy, for example while the screen moves.
        """
        if self._nodes is None:
            said = self.read("uiautomator", "dump", "/dev/tty")
            self._nodes = tuple(_parse_hierarchy(said))
        return self._nodes

    def setting(self, namespace: str, key: str) -> str | None:
        """Give a setting's value; None when it is not set.

        Raises:
            EvaluationError: the phone does not say.
        """
        value = self.read("settings", "get", namespace, key).rstrip("\r\n")
        return None if value == "null" else value

    def content(self, uri: str, column: str) -> Mapping[int, str]:
        """Give one column of a content provider's rows, by row id.

        Only one column is asked for at a time: ``content query`` puts ``, `` between columns and
        does not quote, so values with commas could not be told from further columns.

        Args:
            uri: such as ``content://com.android.contacts/data/phones``.
            column: its name; SQL's NULL reads as an empty text.

        Raises:
            EvaluationError: the phone does not say, or not in rows.
        """
        said = self.read("content", "query", "--uri", uri, "--projection", f"_id:{column}")
        return parse_rows(said.replace("\r\n", "\n"), column)

    def read(self, *words: str) -> str:
        """Give what a command prints, from memory when it was run before.

        Args:
            words: the command; each is quoted.

        Raises:
            EvaluationError: it failed, or the view's time is up.
        """
        if words not in self._read:
            left_s = self._deadline_s - self._clock.monotonic_s()
            if left_s <= 0:
                raise EvaluationError(f"There was no time left for {words[0]}.")
            result = self._shell.shell(shlex.join(words), timeout_s=left_s)
            said = result.stdout.decode(errors="replace")
            if result.exit_code != 0:
                raise EvaluationError(
                    f"{words[0]} ended with exit code {result.exit_code}.", details=said[:400]
                )
            self._read[words] = said
        return self._read[words]


def parse_rows(said: str, column: str) -> dict[int, str]:
    """Read what ``content query --projection _id:COLUMN`` printed.

    Args:
        said: lines such as ``Row: 0 _id=7, title=Milk, eggs``; values may span lines.
        column: the second column.

    Raises:
        EvaluationError: these are no such rows, numbered from 0, each id once.
    """
    if said.strip() in {"", "No result found."}:
        return {}
    heads = list(_ROW.finditer(said))
    rows: dict[int, str] = {}
    for number, head in enumerate(heads):
        end = heads[number + 1].start() - 1 if number + 1 < len(heads) else len(said.rstrip("\n"))
        label, _, value = said[head.end() : end].partition("=")
        if int(head[1]) != number or label != column or int(head[2]) in rows:
            raise EvaluationError("A content provider's rows are out of order.", details=said[:400])
        rows[int(head[2])] = "" if value == "NULL" else value
    if not heads or heads[0].start() != 0:
        raise EvaluationError("A content provider gave no rows.", details=said[:400])
    return rows


def _parse_hierarchy(said: str) -> list[UiNode]:
    start, end = said.find("<"), said.rfind(_HIERARCHY_END)
    if start < 0 or end < 0 or len(said) > _MAX_XML_CHARS:
        raise EvaluationError("uiautomator gave no hierarchy.", details=said[:400])
    try:
        root = ElementTree.fromstring(said[start : end + len(_HIERARCHY_END)])
    except (ElementTree.ParseError, ValueError) as exc:
        raise EvaluationError("uiautomator gave broken XML.", details=str(exc)) from exc
    return [
        UiNode(
            text=node.get("text", ""),
            description=node.get("content-desc", ""),
            resource_id=node.get("resource-id", ""),
            package=node.get("package", ""),
            role=node.get("class", ""),
            is_checked=node.get("checked") == "true",
        )
        for node in root.iter("node")
    ]
