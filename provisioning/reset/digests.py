"""Compares the state of a machine before and after a reset, as the probe's `digest` reports it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from foundation.errors import LinkProtocolError
from provisioning.protocols import StateKind
from provisioning.reset.windows import WindowState, window_differences

if TYPE_CHECKING:
    from provisioning.protocols import Json, Link, StateSummary


_SETTINGS_FILE = ".config/dconf/user"


class SelectionState(BaseModel):
    """The content of one clipboard.

    Attributes:
        owned: whether a program owns the clipboard.
        targets: names of the formats that it offers, sorted.
        text: SHA-256 of its text; empty if there is none.
        trouble: why the content is unknown; empty if it is known.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    owned: bool
    targets: list[str]
    text: str
    trouble: str

    def __str__(self) -> str:
        """Return a short description."""
        if not self.owned:
            return "nothing"
        content = f"text {self.text[:12]}" if self.text else "no text"
        return f"{content}, as {', '.join(self.targets) or 'nothing'}"


class StateDigest(BaseModel):
    """The state that a reset must restore.

    Digests of other formats are rejected, so that one of an older probe cannot match by chance.

    Attributes:
        format: version of the format.
        files: size, mtime and mode by path below the user's home folder.
        settings: digest of the value by key; empty if there is no database.
        processes: short name and program of each of the user's processes, sorted.
        windows: managed windows, bottom to top.
        selections: clipboards by name.
        unseen: why windows and clipboards could not be read; empty if they were read.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    format: Literal[3]
    files: dict[str, str]
    settings: dict[str, str]
    processes: list[str]
    windows: list[WindowState] = Field(max_length=1000)
    selections: dict[str, SelectionState] = Field(max_length=10)
    unseen: str

    def differences(self, after: StateDigest) -> tuple[str, ...]:
        """Return one line for each difference in a later state; empty if there is none.

        State that could not be read, before or after, always counts as a difference.
        """
        lines = [
            f"file {path}: {self.files.get(path, 'absent')} -> {after.files.get(path, 'absent')}"
            for path in sorted(self.files.keys() | after.files.keys())
            if self.files.get(path) != after.files.get(path)
        ]
        lines += [
            f"setting {key} differs"
            for key in sorted(self.settings.keys() | after.settings.keys())
            if self.settings.get(key) != after.settings.get(key)
        ]
        before_count, after_count = Counter(self.processes), Counter(after.processes)
        lines += [f"process gone: {name}" for name in (before_count - after_count).elements()]
        lines += [f"process new: {name}" for name in (after_count - before_count).elements()]
        if self.unseen or after.unseen:
            why = after.unseen or self.unseen
            return (*lines, f"windows and clipboards could not be read: {why}")
        lines += window_differences(self.windows, after.windows)
        return (*lines, *self._selection_differences(after))

    def summary(self) -> StateSummary:
        """Return files, settings and processes, for the detection of side effects.

        The database of the settings is not listed as a file, as its keys are listed.
        """
        counts = Counter(self.processes)
        files = {f"~/{path}": row for path, row in self.files.items() if path != _SETTINGS_FILE}
        return {
            StateKind.FILE: files,
            StateKind.SETTING: self.settings,
            StateKind.PROCESS: {name: str(count) for name, count in counts.items()},
        }

    def _selection_differences(self, after: StateDigest) -> list[str]:
        nothing = SelectionState(owned=False, targets=[], text="", trouble="")
        lines = []
        for name in sorted(self.selections.keys() | after.selections.keys()):
            before, now = self.selections.get(name, nothing), after.selections.get(name, nothing)
            if trouble := now.trouble or before.trouble:
                lines.append(f"clipboard {name}: {trouble}")
            elif before != now:
                lines.append(f"clipboard {name}: {before} -> {now}")
        return lines


def take_digest(link: Link, *, timeout_s: float = 10.0) -> StateDigest:
    """Get the state of a machine from its probe.

    Raises:
        LinkError: the probe did not answer.
        LinkProtocolError: its reply is invalid.
    """
    return read_digest(link.call("digest", timeout_s=timeout_s))


def take_fingerprint(link: Link, *, timeout_s: float = 10.0) -> str:
    """Get the fingerprint of a machine's state, and let `wake` return the same while it is equal.

    Returns:
        The fingerprint; empty if the state can only be compared by its digest.

    Raises:
        LinkError: the probe did not answer.
        LinkProtocolError: its reply is invalid.
    """
    reply = link.call("fingerprint", timeout_s=timeout_s)
    if not isinstance(reply, str):
        raise LinkProtocolError("The probe sent an invalid fingerprint.", details=repr(reply)[:500])
    return reply


def read_digest(reply: Json) -> StateDigest:
    """Parse a probe's reply.

    Raises:
        LinkProtocolError: the reply is invalid, or of another format.
    """
    try:
        return StateDigest.model_validate(reply)
    except ValueError as exc:
        raise LinkProtocolError(
            "The probe sent an invalid state digest.", details=str(exc)[:500]
        ) from exc
