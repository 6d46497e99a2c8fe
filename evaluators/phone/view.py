"""Read a phone's state through its shell, each value once per wave."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from evaluators.phone.hierarchy import UiNode, has_hierarchy, parse_hierarchy
from evaluators.phone.notices import (
    Notification,
    Toast,
    parse_kept_toast,
    parse_key_packages,
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
from evaluators.phone.rows import read_column
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foundation.clock import Clock
    from foundation.process import CommandResult
    from provisioning.protocols import Commands

_RESUMED = (
    re.compile(r"(?m)^ *topResumedActivity=ActivityRecord\{\S+ u\d+ ([\w.]+)/([\w.$]+)"),
    re.compile(r"(?m)^ *m?ResumedActivity: ActivityRecord\{\S+ u\d+ ([\w.]+)/([\w.$]+)"),
)
_MAX_FILE_BYTES = 16 << 20


class PhoneView:
    """View of a phone for evaluators; created for each wave, caches what it reads.

    Args:
        commands: shell commands of the phone.
        timeout_s: total time limit of all reads through this view.
        clock: clock for the time limit.
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
        """Return package and activity in front; two empty texts if none is resumed.

        Source: ``dumpsys activity activities``; Android 10 and later print ``topResumedActivity``
            or ``ResumedActivity``, older versions ``mResumedActivity``.

        Raises:
            EvaluationError: the phone's output has an unexpected format.
        """
        output = self.read("dumpsys", "activity", "activities")
        if "ctivit" not in output:
            raise EvaluationError("dumpsys printed no activities.", details=output[:400])
        for pattern in _RESUMED:
            if match := pattern.search(output):
                return match[1], match[2]
        return "", ""

    def hierarchy(self) -> Sequence[UiNode]:
        """Return the nodes on the screen in document order.

        A dump without a hierarchy is repeated once.

        Source: ``uiautomator dump /dev/tty`` prints XML and then a message.

        Raises:
            EvaluationError: there is no hierarchy, for example during an animation.
        """
        if self._nodes is None:
            dump = ("uiautomator", "dump", "/dev/tty")
            output = self.read(*dump)
            if not has_hierarchy(output):  # the screen was changing
                del self._read[dump]
                output = self.read(*dump)
            self._nodes = tuple(parse_hierarchy(output))
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
        """Return the nodes on the screen with all of the given properties, in document order.

        Args:
            resource_id: the complete id, with or without its ``package:id/``.
            text: the complete text.
            description: the complete content description.
            package: the complete package name.
            role: the complete class name.

        Raises:
            EvaluationError: there is no hierarchy.
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
        """Return the children of a node, in document order."""
        return [other for other in self.hierarchy() if other.parent == node.index]

    def siblings(self, node: UiNode) -> list[UiNode]:
        """Return the children of a node's parent, including the node itself."""
        return [other for other in self.hierarchy() if other.parent == node.parent]

    def setting(self, namespace: str, key: str) -> str | None:
        """Return a setting's value; None if it is not set.

        Raises:
            EvaluationError: the phone's output has an unexpected format.
        """
        value = self.read("settings", "get", namespace, key).rstrip("\r\n")
        return None if value == "null" else value

    def settings(self, namespace: str) -> Mapping[str, str]:
        """Return all values of a table of settings, by key.

        Raises:
            EvaluationError: the phone's output has an unexpected format.
        """
        return parse_settings(self.read("settings", "list", namespace))

    def content(self, uri: str, column: str) -> Mapping[int, str]:
        """Return one column of a content provider's rows, by row id.

        Args:
            uri: URI, such as ``content://com.android.contacts/data/phones``.
            column: name of the column; NULL is returned as an empty text.

        Raises:
            EvaluationError: the phone's output does not consist of rows.
        """
        return read_column(self._query, uri, column)

    def _query(self, *more: str) -> str:
        return self.read("content", "query", *more).replace("\r\n", "\n")

    def rows(self, uri: str, *columns: str) -> list[dict[str, str]]:
        """Return several columns of a content provider's rows, by ``_id``; NULL becomes an empty text.

        There is one query for each column; rows that are added or deleted in between are left out
        or queried separately.

        Raises:
            EvaluationError: the phone's output does not consist of rows.
        """
        values = {column: self.content(uri, column) for column in columns}
        common = set.intersection(*(set(column) for column in values.values()))
        return [
            {"_id": str(number), **{name: values[name][number] for name in columns}}
            for number in sorted(common)
        ]

    def messages(self) -> list[Message]:
        """Return the text messages, oldest row first.

        Raises:
            EvaluationError: the phone's output has an unexpected format.
        """
        return [Message.of_row(row) for row in self.rows(MESSAGES, *MESSAGE_COLUMNS)]

    def calls(self) -> list[Call]:
        """Return the call log, oldest row first.

        Raises:
            EvaluationError: the phone's output has an unexpected format.
        """
        return [Call.of_row(row) for row in self.rows(CALLS, *CALL_COLUMNS)]

    def call_state(self) -> str:
        """Return the state of calls: ``idle``, ``ringing`` or ``offhook``.

        Raises:
            EvaluationError: the phone's output has an unexpected format.
        """
        return parse_call_state(self.read("dumpsys", "telephony.registry"))

    def notifications(self) -> Sequence[Notification]:
        """Return the notifications that have not been dismissed.

        Text in a notification may imitate a record. Therefore, if the phone lists keys of
        notifications and an application has a different number of records, none of its
        notifications are returned.

        Raises:
            EvaluationError: the phone's output has an unexpected format.
        """
        records = parse_notifications(self.read("dumpsys", "notification", "--noredact"))
        keys = self.notifying_packages()
        if keys is None:
            return records
        number = Counter(record.package for record in records)
        return [
            record for record in records if number[record.package] == keys.count(record.package)
        ]

    def notifying_packages(self) -> list[str] | None:
        """Return the application of each posted notification, from its key; None before Android 11.

        Source: ``cmd notification list``.
        """
        listed = self._run("cmd", "notification", "list")
        return parse_key_packages(_text(listed)) if listed.exit_code == 0 else None

    def last_toast(self) -> Toast | None:
        """Return the last toast; None if there was none.

        Android does not keep toasts, so only a toast that is still shown is available; the
        reference phone keeps the last one.

        Raises:
            EvaluationError: the phone's output has an unexpected format.
        """
        kept = self._run("dumpsys", "reference_phone", "toast")
        if kept.exit_code == 0 and "Can't find service" not in _text(kept):
            return parse_kept_toast(_text(kept))
        shown = parse_toasts(self.read("dumpsys", "notification", "--noredact"))
        return shown[0] if shown else None

    def file(self, path: str) -> bytes | None:
        """Return the content of a file; None if it does not exist.

        Args:
            path: absolute path; it is quoted for the shell.

        Raises:
            EvaluationError: the file cannot be read, or is larger than 16 MiB.
        """
        status = self.file_stat(path)
        if status is None or status.is_folder:
            return None
        if status.size_bytes > _MAX_FILE_BYTES:
            raise EvaluationError(f"{path} is too large ({status.size_bytes} bytes).")
        return self._require("cat", "--", path).stdout

    def file_text(self, path: str) -> str | None:
        """Return a file's content as UTF-8 text; None if it does not exist or is not UTF-8.

        Raises:
            EvaluationError: it cannot be read.
        """
        data = self.file(path)
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError:
            return None

    def file_stat(self, path: str) -> PhoneFile | None:
        """Return the status of a file or folder, following links; None if it does not exist.

        Raises:
            EvaluationError: the phone's output has an unexpected format.
        """
        if self._run("test", "-e", path).exit_code == 1:
            return None
        return parse_stat(self.read("stat", "-L", "-c", "%s %f %Y", "--", path))

    def folder(self, path: str) -> list[str] | None:
        """Return the names in a folder, sorted; None if the folder does not exist.

        Raises:
            EvaluationError: it cannot be read.
        """
        if self._run("test", "-d", path).exit_code == 1:
            return None
        output = self.read("find", "-H", path, "-mindepth", "1", "-maxdepth", "1", "-print0")
        return sorted(entry.rpartition("/")[2] for entry in output.split("\0") if entry)

    def read(self, *argv: str) -> str:
        """Return the output of a command, which runs only once per wave.

        Args:
            argv: the command; each element is quoted.

        Raises:
            EvaluationError: the command failed, or the view's time limit expired.
        """
        return _text(self._require(*argv))

    def _require(self, *argv: str) -> CommandResult:
        result = self._run(*argv)
        if result.exit_code != 0:
            raise EvaluationError(
                f"{argv[0]} ended with exit code {result.exit_code}.", details=_text(result)[:400]
            )
        return result

    def _run(self, *argv: str) -> CommandResult:
        """Run a command unless its result is cached; a non-zero exit code is a result."""
        if argv not in self._read:
            left_s = self._deadline_s - self._clock.monotonic_s()
            if left_s <= 0:
                raise EvaluationError(f"The time limit expired before running {argv[0]}.")
            self._read[argv] = self._commands.run(argv, timeout_s=left_s)
        return self._read[argv]


def _text(result: CommandResult) -> str:
    return result.stdout.decode(errors="replace")
