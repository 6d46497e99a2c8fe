"""A rewind is verified; processes that are still exiting are not differences."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from foundation.clock import FakeClock
from foundation.errors import ResetMismatchError
from foundation.process import CommandResult
from provisioning.phone.profile import REFERENCE
from provisioning.phone.reference.snapshots import PhoneSnapshots

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass
class Device:
    """A phone whose commands print nothing, with the given processes at each check."""

    running: list[str] = field(default_factory=list)
    serial: str = "phone"

    def shell(self, command: str, _timeout_s: float) -> CommandResult:
        names = self.running.pop(0) if command.startswith("cat /proc") and self.running else ""
        shown = f"python3\nsh\ncat\n{names}" if command.startswith("cat /proc") else ""
        return CommandResult((command,), 0, shown.encode(), b"")

    def wait(self, _timeout_s: float) -> None:
        """Do nothing."""


@contextlib.contextmanager
def console() -> Iterator[Any]:
    class Console:
        def run(self, _words: str, *, timeout_s: float) -> list[str]:
            del timeout_s
            return []

    yield Console()


def snapshots(folder: Path, device: Device) -> PhoneSnapshots:
    made = PhoneSnapshots(
        "phone-1",
        folder,
        cast("Any", device),
        cast("Any", console),
        profile=REFERENCE,
        around_rewind=contextlib.nullcontext,
        clock=FakeClock(),
    )
    made.save("ready")
    return made


def test_ending_command_is_not_a_leftover_process(tmp_path: Path) -> None:
    device = Device()
    saved = snapshots(tmp_path, device)
    device.running = ["python3\n", "python3\n", ""]
    assert saved.rewind("ready").path == "rewind"


def test_remaining_process_is_a_difference(tmp_path: Path) -> None:
    device = Device()
    saved = snapshots(tmp_path, device)
    device.running = ["sleep\n"] * 100
    with pytest.raises(ResetMismatchError) as caught:
        saved.rewind("ready")
    assert caught.value.details == "process left: sleep"
