"""The state of a phone that a rewind must restore, read with the phone's own commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from foundation.errors import LinkProtocolError
from provisioning.phone.profile import REFERENCE
from provisioning.protocols import StateKind

if TYPE_CHECKING:
    from provisioning.phone.adb.device import AdbDevice
    from provisioning.phone.profile import PhoneProfile
    from provisioning.protocols import StateSummary

_PROCESSES = "cat /proc/[0-9]*/comm"
_OWN_PROCESSES = ("python3", "sh", "cat")
# The launcher shows the date, which may differ from that of the snapshot.
_DATE = re.compile(r'text="[^"]*"(?= resource-id="[^"]*:id/(?:date|clock)")')
_TIMEOUT_S = 15.0
_ROW_NUMBER = re.compile(r"^Row: \d+ ")


class PhoneDigest(BaseModel):
    """The state of a phone.

    Attributes:
        schema_version: version of the file's schema; other versions are rejected.
        parts: output lines of each command.
        processes: names of running processes started by shells.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    schema_version: Literal[1] = 1
    parts: dict[str, list[str]]
    processes: list[str]

    def differences(self, after: PhoneDigest) -> tuple[str, ...]:
        """Return one line for each difference in a later state; empty if there is none.

        A snapshot contains no processes, so any process that runs afterwards is a difference.
        """
        differences = [f"process left: {name}" for name in after.processes]
        for part in sorted(self.parts.keys() | after.parts.keys()):
            before_lines = set(self.parts.get(part, ["absent"]))
            after_lines = set(after.parts.get(part, ["absent"]))
            differences += [f"{part}: gone: {line}" for line in sorted(before_lines - after_lines)]
            differences += [f"{part}: new: {line}" for line in sorted(after_lines - before_lines)]
        return tuple(differences)

    def summary(self) -> StateSummary:
        """Return files, settings and rows of content providers, for the detection of side effects."""
        summary: dict[StateKind, dict[str, str]] = {kind: {} for kind in StateKind}
        for command, lines in self.parts.items():
            for line in lines:
                kind, name, value = _row(command, line)
                if kind is not None:
                    summary[kind][name] = value
        return summary


def _row(command: str, line: str) -> tuple[StateKind | None, str, str]:
    """Return kind, name and fingerprint of an output line of a command; no kind if it has none."""
    match command.split():
        case ["settings", "list", namespace]:
            name, _, value = line.partition("=")
            return StateKind.SETTING, f"{namespace}/{name}", value
        case ["content", "query", "--uri", uri, *_]:
            row = _ROW_NUMBER.sub("", line)
            return StateKind.RECORD, f"{uri.removeprefix('content://')} {row}", ""
        case ["find", *_]:
            digest, separator, path = line.partition("  ")
            return StateKind.FILE, path if separator else line, digest if separator else ""
    return None, "", ""


def take_phone_digest(device: AdbDevice, profile: PhoneProfile = REFERENCE) -> PhoneDigest:
    """Read the state of a phone.

    Args:
        device: the phone.
        profile: defines what is compared.

    Raises:
        LinkError: the phone did not answer.
        LinkProtocolError: one of the commands failed.
    """
    parts = {}
    for command in profile.digest_commands:
        result = device.shell(command, _TIMEOUT_S)
        if result.exit_code != 0:
            raise LinkProtocolError(
                f"The phone {device.serial} did not report its state.",
                details=f"$ {command}\n{result.stderr.decode(errors='replace')[:400]}",
            )
        text = _DATE.sub('text=""', result.stdout.decode(errors="replace"))
        parts[command] = sorted(text.replace("><", ">\n<").splitlines())
    processes = read_processes(device) if profile.checks_processes else []
    return PhoneDigest(parts=parts, processes=processes)


def read_processes(device: AdbDevice) -> list[str]:
    """Return the names of running processes started by shells, sorted.

    Raises:
        LinkError: the phone did not answer.
    """
    names = device.shell(_PROCESSES, _TIMEOUT_S).stdout.decode(errors="replace").splitlines()
    for name in _OWN_PROCESSES:
        if name in names:
            names.remove(name)
    return sorted(names)
