"""A rewind is verified; processes that are still exiting are not differences."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest
from PIL import Image

from foundation.clock import FakeClock
from foundation.errors import ResetMismatchError, SnapshotError
from foundation.process import CommandResult
from provisioning.phone.profile import EMULATOR, REFERENCE
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
        def run(self, words: str, *, timeout_s: float) -> list[str]:
            del timeout_s
            return ["--        ready"] if words.endswith(" list") else []

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


@dataclass
class Emulator:
    """A phone whose whole machine is restored; counts what the provider does after a load.

    Attributes:
        offset_s: difference of its clock from the host's.
        settings: output of `settings list system` at each reading; the last one stays.
    """

    clock: FakeClock
    offset_s: float = -3600.0
    can_set: bool = True
    is_black: bool = True
    settings: list[str] = field(default_factory=lambda: ["a=1"])
    calls: list[str] = field(default_factory=list)
    serial: str = "phone"

    def shell(self, command: str, _timeout_s: float) -> CommandResult:
        self.calls.append(command)
        output = ""
        if command.startswith("su 0 date") and self.can_set:
            self.offset_s = 0
        elif command.startswith("date"):
            output = f"{self.clock.now_s() + self.offset_s:.0f}"
        elif command == "settings list system":
            output = self.settings.pop(0) if len(self.settings) > 1 else self.settings[0]
        elif "SurfaceFlinger" in command:
            self.is_black = False
        return CommandResult((command,), 0, output.encode(), b"")

    def read(self, command: str, _timeout_s: float) -> bytes:
        self.calls.append(command)
        picture = Image.new("RGB", (4, 4))
        if not self.is_black:
            picture.putpixel((2, 2), (255, 255, 255))
        png = io.BytesIO()
        picture.save(png, "PNG")
        return png.getvalue()

    def disconnect(self) -> None:
        self.calls.append("disconnect")

    def wait(self, _timeout_s: float) -> None:
        self.calls.append("wait")


def emulator_snapshots(folder: Path) -> tuple[PhoneSnapshots, Emulator]:
    device = Emulator(FakeClock())
    made = PhoneSnapshots(
        "phone-1",
        folder,
        cast("Any", device),
        cast("Any", console),
        profile=EMULATOR,
        around_rewind=contextlib.nullcontext,
        clock=device.clock,
    )
    made.save("ready")
    return made, device


def test_emulator_is_reconnected_set_woken_and_repainted_before_it_is_compared(
    tmp_path: Path,
) -> None:
    made, device = emulator_snapshots(tmp_path)
    device.calls.clear()
    report = made.rewind("ready")
    assert set(report.phases_s) == {"load", "wake", "verify"}
    assert device.calls[:2] == ["disconnect", "wait"]
    awake = device.calls.index("input keyevent KEYCODE_WAKEUP; wm dismiss-keyguard")
    assert awake < device.calls.index("screencap -p") < device.calls.index("settings list system")
    assert (device.offset_s, device.is_black) == (0, False)
    # Read until two in a row are the same.
    assert device.calls.count("settings list system") == 2


def test_state_that_settles_is_compared_once_it_is_stable(tmp_path: Path) -> None:
    made, device = emulator_snapshots(tmp_path)
    device.settings = ["a=1\nboot=1", "a=1"]
    made.rewind("ready")
    assert device.calls.count("settings list system") == 2 + 3


def test_state_that_never_settles_is_an_error(tmp_path: Path) -> None:
    made, device = emulator_snapshots(tmp_path)
    device.settings = [f"a={number}" for number in range(500)]
    with pytest.raises(SnapshotError, match="still changing"):
        made.rewind("ready")


def test_clock_that_cannot_be_set_fails_the_rewind(tmp_path: Path) -> None:
    made, device = emulator_snapshots(tmp_path)
    device.can_set = False
    with pytest.raises(SnapshotError, match="clock of the phone"):
        made.rewind("ready")


def test_save_that_is_not_listed_fails(tmp_path: Path) -> None:
    made, _ = emulator_snapshots(tmp_path)
    with pytest.raises(SnapshotError, match="did not save 'other'"):
        made.save("other")
    assert not (tmp_path / "other.json").exists()
