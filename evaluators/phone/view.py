"""Read a phone's state over its shell, each thing once a wave."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import EvaluationError
from evaluators.phone.hierarchy import UiNode, parse_hierarchy
from evaluators.phone.notices import (
    Notification,
    Toast,
    parse_kept_toast,
    parse_notifications,
    parse_toasts,
)
from evaluators.phone.records import (
    CALL_COLUMNS,
    CALLS,
    MESSAGE_COLUMNS,
    MESSAGES,
    Call,
    Message,
    PhoneFile,
    parse_call_state,
    parse_settings,
    parse_stat,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from appliance.base.clock import Clock
    from appliance.base.process import CommandResult
    from provisioning.protocols import Commands

_RESUMED = (
    re.compile(r"topResumedActivity=ActivityRecord\{\S+ u\d+ ([\w.]+)/([\w.$]+)"),
    re.compile(r"\bm?ResumedActivity: ActivityRecord\{\S+ u\d+ ([\w.]+)/([\w.$]+)"),
)
_ROW = re.compile(r"^Row: (\d+) _id=(\d+), ", re.MULTILINE)
_MAX_FILE_BYTES = 16 << 20


class PhoneView:
    """What evaluators see of a phone; made anew for each wave, remembers what it has read.

    Args:
        commands: the phone's.
        timeout_s: bound of all that is read through this view.
        clock: whose time counts.
    """

    def __init__(
        self, commands: Commands, *, timeout_s: float, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._commands = commands
        self._clock = clock
        self._deadline_s = clock.monotonic_s() + timeout_s
        self._read: dict[tuple[str, ...], CommandResult] = {}
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
            self._nodes = tuple(parse_hierarchy(said))
        return self._nodes

    def nodes(
        self,
        *,
        resource_id: str = "",
        text: str | None = None,
        description: str | None = None,
        package: str = "",
        role: str = "",
    ) -> list[UiNode]:
        """Give the nodes on the screen that agree with all that is given, in document order.

        Args:
            resource_id: the whole id, with or without its ``package:id/``.
            text: the whole text.
            description: the whole content description.
            package: the whole package name.
            role: the whole class name.

        Raises:
            EvaluationError: the phone gives no hierarchy.
        """
        return [
            node
            for node in self.hierarchy()
            if (not resource_id or node.has_id(resource_id))
            and text in {None, node.text}
            and description in {None, node.description}
            and package in {"", node.package}
            and role in {"", node.role}
        ]

    def children(self, node: UiNode) -> list[UiNode]:
        """Give the nodes right below one, in document order."""
        return [other for other in self.hierarchy() if other.parent == node.index]

    def siblings(self, node: UiNode) -> list[UiNode]:
        """Give the nodes below the same parent, the node itself among them."""
        return [other for other in self.hierarchy() if other.parent == node.parent]

    def setting(self, namespace: str, key: str) -> str | None:
        """Give a setting's value; None when it is not set.

        Raises:
            EvaluationError: the phone does not say.
        """
        value = self.read("settings", "get", namespace, key).rstrip("\r\n")
        return None if value == "null" else value

    def settings(self, namespace: str) -> Mapping[str, str]:
        """Give all values of a table of settings, by key.

        Raises:
            EvaluationError: the phone does not say.
        """
        return parse_settings(self.read("settings", "list", namespace))

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

    def rows(self, uri: str, *columns: str) -> list[dict[str, str]]:
        """Give several columns of a content provider's rows, by ``_id``; NULL is an empty text.

        A row that comes or goes between the queries, one a column, is left out.

        Raises:
            EvaluationError: the phone does not say, or not in rows.
        """
        values = {column: self.content(uri, column) for column in columns}
        common = set.intersection(*(set(column) for column in values.values()))
        return [
            {"_id": str(number), **{name: values[name][number] for name in columns}}
            for number in sorted(common)
        ]

    def messages(self) -> list[Message]:
        """Give the text messages, oldest row first.

        Raises:
            EvaluationError: the phone does not say.
        """
        return [Message.of_row(row) for row in self.rows(MESSAGES, *MESSAGE_COLUMNS)]

    def calls(self) -> list[Call]:
        """Give the call log, oldest row first.

        Raises:
            EvaluationError: the phone does not say.
        """
        return [Call.of_row(row) for row in self.rows(CALLS, *CALL_COLUMNS)]

    def call_state(self) -> str:
        """Tell whether a call goes on: ``idle``, ``ringing`` or ``offhook``.

        Raises:
            EvaluationError: the phone does not say.
        """
        return parse_call_state(self.read("dumpsys", "telephony.registry"))

    def notifications(self) -> Sequence[Notification]:
        """Give the notifications that have not been dismissed.

        Raises:
            EvaluationError: the phone does not say.
        """
        return parse_notifications(self.read("dumpsys", "notification", "--noredact"))

    def last_toast(self) -> Toast | None:
        """Give the last toast; None when there was none.

        Android forgets a toast when it vanishes, so there only the one that is shown is known;
        the reference phone keeps the last one.

        Raises:
            EvaluationError: the phone does not say.
        """
        kept = self._run("dumpsys", "reference_phone", "toast")
        if kept.exit_code == 0 and "Can't find service" not in _text(kept):
            return parse_kept_toast(_text(kept))
        shown = parse_toasts(self.read("dumpsys", "notification", "--noredact"))
        return shown[0] if shown else None

    def file(self, path: str) -> bytes | None:
        """Give the content of a file; None when there is none.

        Args:
            path: absolute; nothing in it means anything to the shell.

        Raises:
            EvaluationError: it cannot be read, or has more than 16 MiB.
        """
        found = self.file_stat(path)
        if found is None or found.is_folder:
            return None
        if found.size_bytes > _MAX_FILE_BYTES:
            raise EvaluationError(f"{path} has {found.size_bytes} bytes: too large to be read.")
        return self._require("cat", "--", path).stdout

    def file_text(self, path: str) -> str | None:
        """Give a file's content as UTF-8; None when there is none, or when it is no UTF-8.

        Raises:
            EvaluationError: it cannot be read.
        """
        data = self.file(path)
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError:
            return None

    def file_stat(self, path: str) -> PhoneFile | None:
        """Tell about a file or folder, links followed; None when there is none.

        Raises:
            EvaluationError: the phone does not say.
        """
        if self._run("test", "-e", path).exit_code == 1:
            return None
        return parse_stat(self.read("stat", "-L", "-c", "%s %f %Y", "--", path))

    def folder(self, path: str) -> list[str] | None:
        """Give the names in a folder, sorted; None when there is no such folder.

        Raises:
            EvaluationError: it cannot be read.
        """
        if self._run("test", "-d", path).exit_code == 1:
            return None
        said = self.read("find", "-H", path, "-mindepth", "1", "-maxdepth", "1", "-print0")
        return sorted(entry.rpartition("/")[2] for entry in said.split("\0") if entry)

    def read(self, *words: str) -> str:
        """Give what a command prints, from memory when it was run before.

        Args:
            words: the command; each is quoted.

        Raises:
            EvaluationError: it failed, or the view's time is up.
        """
        return _text(self._require(*words))

    def _require(self, *words: str) -> CommandResult:
        result = self._run(*words)
        if result.exit_code != 0:
            raise EvaluationError(
                f"{words[0]} ended with exit code {result.exit_code}.", details=_text(result)[:400]
            )
        return result

    def _run(self, *words: str) -> CommandResult:
        """Run a command unless it was run before; a non-zero exit code is a result."""
        if words not in self._read:
            left_s = self._deadline_s - self._clock.monotonic_s()
            if left_s <= 0:
                raise EvaluationError(f"There was no time left for {words[0]}.")
            self._read[words] = self._commands.run(words, timeout_s=left_s)
        return self._read[words]


def _text(result: CommandResult) -> str:
    return result.stdout.decode(errors="replace")


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
