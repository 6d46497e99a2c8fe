"""Compare the state of a machine before and after a reset, as the probe's `digest` tells it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from appliance.base.errors import LinkProtocolError

if TYPE_CHECKING:
    from provisioning.protocols import Json, Link


class StateDigest(BaseModel):
    """State that a reset must bring back.

    Attributes:
        files: size, mtime and mode by path below the user's home folder.
        settings: SHA-256 of the settings database; empty when there is none.
        processes: short name and program of each of the user's processes, sorted.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    files: dict[str, str]
    settings: str
    processes: list[str]

    def differences(self, after: StateDigest) -> tuple[str, ...]:
        """Tell one line for each thing that is not as here; empty when all is."""
        lines = [
            f"file {path}: {self.files.get(path, 'absent')} -> {after.files.get(path, 'absent')}"
            for path in sorted(self.files.keys() | after.files.keys())
            if self.files.get(path) != after.files.get(path)
        ]
        if self.settings != after.settings:
            lines.append("settings differ")
        before_count, after_count = Counter(self.processes), Counter(after.processes)
        lines += [f"process gone: {name}" for name in (before_count - after_count).elements()]
        lines += [f"process new: {name}" for name in (after_count - before_count).elements()]
        return tuple(lines)


def take_digest(link: Link, *, timeout_s: float = 10.0) -> StateDigest:
    """Ask the probe for the state of its machine.

    Raises:
        LinkError: it did not answer.
        LinkProtocolError: its answer makes no sense.
    """
    return read_digest(link.call("digest", timeout_s=timeout_s))


def read_digest(reply: Json) -> StateDigest:
    """Read what a probe answers.

    Raises:
        LinkProtocolError: it makes no sense.
    """
    try:
        return StateDigest.model_validate(reply)
    except ValueError as exc:
        raise LinkProtocolError("The probe sent no state digest.", details=str(exc)[:500]) from exc
