"""Records of a phone: messages, calls, settings, files.

Source: Android's ``Telephony.TextBasedSmsColumns`` and ``CallLog.Calls`` for the codes of types;
``TelephonyManager.CALL_STATE_*`` for the state of calls.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from foundation.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Mapping

MESSAGES = "content://sms"
MESSAGE_COLUMNS = ("address", "body", "type", "date", "read")
CALLS = "content://call_log/calls"
CALL_COLUMNS = ("number", "type", "date", "duration")

_BOXES = {1: "inbox", 2: "sent", 3: "draft", 4: "outbox", 5: "failed", 6: "queued"}
_KINDS = {
    1: "incoming",
    2: "outgoing",
    3: "missed",
    4: "voicemail",
    5: "rejected",
    6: "blocked",
    7: "answered_externally",
}
_CALL_STATES = {"0": "idle", "1": "ringing", "2": "offhook"}
_CALL_STATE = re.compile(r"^ *mCallState=(\d)", re.MULTILINE)
_SETTING = re.compile(r"^([\w.:/-]+)=", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Message:
    """A text message.

    Attributes:
        address: address of the other party, as stored.
        body: the text.
        box: ``inbox``, ``sent``, ``draft``, ``outbox``, ``failed`` or ``queued``.
        date_ms: milliseconds since the epoch.
        is_read: whether the user has read it.
    """

    address: str
    body: str
    box: str
    date_ms: int
    is_read: bool

    @classmethod
    def of_row(cls, row: Mapping[str, str]) -> Self:
        """Parse a row of `MESSAGE_COLUMNS`.

        Raises:
            EvaluationError: a numeric column does not contain a number.
        """
        return cls(
            address=row["address"],
            body=row["body"],
            box=_BOXES.get(_int(row, "type"), "unknown"),
            date_ms=_int(row, "date"),
            is_read=row["read"] == "1",
        )


@dataclass(frozen=True, slots=True)
class Call:
    """An entry of the call log.

    Attributes:
        number: number of the other party, as stored.
        kind: ``incoming``, ``outgoing``, ``missed``, ``voicemail``, ``rejected``, ``blocked`` or
            ``answered_externally``.
        date_ms: milliseconds since the epoch.
        duration_s: duration; 0 if not answered.
    """

    number: str
    kind: str
    date_ms: int
    duration_s: int

    @classmethod
    def of_row(cls, row: Mapping[str, str]) -> Self:
        """Parse a row of `CALL_COLUMNS`.

        Raises:
            EvaluationError: a numeric column does not contain a number.
        """
        return cls(
            number=row["number"],
            kind=_KINDS.get(_int(row, "type"), "unknown"),
            date_ms=_int(row, "date"),
            duration_s=_int(row, "duration"),
        )


@dataclass(frozen=True, slots=True)
class PhoneFile:
    """Status of a file.

    Attributes:
        size_bytes: size of its content.
        mode: permission bits and type, as in ``st_mode``.
        mtime_s: time of the last modification, in seconds since the epoch.
    """

    size_bytes: int
    mode: int
    mtime_s: int

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.mode)


def parse_stat(output: str) -> PhoneFile:
    """Parse ``stat -c '%s %f %Y'``: size, mode in hexadecimal, time of the last modification.

    Raises:
        EvaluationError: the output has an unexpected format.
    """
    try:
        size, mode, mtime = output.split()
        return PhoneFile(int(size), int(mode, 16), int(mtime))
    except ValueError as exc:
        raise EvaluationError(
            "The phone does not report the status of a file.", details=output[:200]
        ) from exc


def parse_settings(output: str) -> dict[str, str]:
    """Parse ``settings list``: one line for each key; a value may span lines."""
    heads = list(_SETTING.finditer(output))
    ends = [*(head.start() for head in heads), len(output)][1:]
    return {
        head[1]: output[head.end() : end].removesuffix("\n")
        for head, end in zip(heads, ends, strict=True)
    }


def parse_call_state(output: str) -> str:
    """Parse ``dumpsys telephony.registry``; with several SIM cards, a call on any of them counts.

    Raises:
        EvaluationError: the output has no call state.
    """
    states = _CALL_STATE.findall(output)
    if not states or any(state not in _CALL_STATES for state in states):
        raise EvaluationError("The phone does not report its call state.", details=output[:200])
    return _CALL_STATES[max(states)]


def _int(row: Mapping[str, str], column: str) -> int:
    try:
        return int(row[column] or 0)
    except ValueError as exc:
        raise EvaluationError(
            f"The column {column} does not contain a number.", details=row[column]
        ) from exc
