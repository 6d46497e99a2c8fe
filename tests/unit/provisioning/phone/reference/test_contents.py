"""Layers of phones as the commands that Android has for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest

from foundation.errors import ActionError, UnsupportedError
from foundation.process import CommandResult
from images.custom.phone import PhoneLayer, PhoneStep
from provisioning.phone.reference.contents import apply_layers
from provisioning.protocols import MachineInfo

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from provisioning.phone.reference.machine import ReferencePhone


@dataclass
class RecordingPhone:
    """A phone that records what it is asked for; `refuses` is a word in what it refuses."""

    backend: str = "android-emulator"
    refuses: str = "-"
    output: bytes = b""
    asked: list[list[str]] = field(default_factory=list)
    put_files: dict[str, bytes] = field(default_factory=dict)

    @property
    def info(self) -> MachineInfo:
        return MachineInfo("phone-1", "phone", self.backend, "", "", "none", "shell", "/sdcard")

    @property
    def files(self) -> RecordingPhone:
        return self

    @property
    def device(self) -> RecordingPhone:
        return self

    def put(self, path: str, data: bytes) -> None:
        self.put_files[path] = data

    def run(self, argv: Sequence[str], *, timeout_s: float) -> CommandResult:
        del timeout_s
        self.asked.append(list(argv))
        code = int(self.refuses in argv)
        output = b"Row: 0 _id=7\n" if "query" in argv else self.output
        return CommandResult(tuple(argv), code, output, b"refused" if code else b"")

    def adb(self, *arguments: str, timeout_s: float) -> CommandResult:
        return self.run(["adb", *arguments], timeout_s=timeout_s)


def apply(phone: RecordingPhone, folder: Path, **step: object) -> None:
    layer = PhoneLayer(folder, PhoneStep.model_validate(step))
    apply_layers(cast("ReferencePhone", phone), [layer], lambda _: None)


def test_files_and_folders_are_put(tmp_path: Path) -> None:
    (tmp_path / "docs/sub").mkdir(parents=True)
    (tmp_path / "docs/sub/a.txt").write_bytes(b"a")
    (tmp_path / "b.txt").write_bytes(b"b")
    phone = RecordingPhone()
    copies = [
        {"from": "docs", "to": "/sdcard/Documents"},
        {"from": "b.txt", "to": "/sdcard/Download/c.txt"},
    ]
    apply(phone, tmp_path, files=copies)
    assert phone.put_files == {"/sdcard/Documents/sub/a.txt": b"a", "/sdcard/Download/c.txt": b"b"}


def test_settings_and_rows_are_written_with_their_types(tmp_path: Path) -> None:
    phone = RecordingPhone()
    apply(phone, tmp_path, settings={"system": {"font_scale": "1.15"}})
    apply(
        phone, tmp_path, rows=[{"uri": "content://sms", "values": {"body": "x", "date": 1 << 40}}]
    )
    assert phone.asked == [
        ["settings", "put", "system", "font_scale", "1.15"],
        [
            *("content", "insert", "--uri", "content://sms"),
            *("--bind", "body:s:x", "--bind", f"date:l:{1 << 40}"),
        ],
    ]


def test_a_contact_is_a_raw_contact_with_data(tmp_path: Path) -> None:
    phone = RecordingPhone()
    apply(phone, tmp_path, contacts=[{"name": "Rosa", "phone": "1"}])
    rows = [argv for argv in phone.asked if argv[1] == "insert"]
    assert len(rows) == 3
    assert "raw_contact_id:i:7" in rows[1]
    assert "data1:s:Rosa" in rows[1]
    assert "mimetype:s:vnd.android.cursor.item/phone_v2" in rows[2]


def test_an_account_is_a_calendar_written_as_its_sync_adapter(tmp_path: Path) -> None:
    phone = RecordingPhone()
    apply(phone, tmp_path, accounts=[{"name": "rosa@example.org"}])
    (argv,) = phone.asked
    assert argv[3] == (
        "content://com.android.calendar/calendars?caller_is_syncadapter=true"
        "&account_name=rosa%40example.org&account_type=LOCAL"
    )
    assert "account_name:s:rosa@example.org" in argv


def test_an_apk_is_installed_by_adb(tmp_path: Path) -> None:
    phone = RecordingPhone()
    apply(phone, tmp_path, apks=[{"file": "a.apk", "sha256": "0" * 64}])
    assert phone.asked == [["adb", "install", "-r", str(tmp_path / "a.apk")]]


@pytest.mark.parametrize(
    "step", [{"apks": [{"file": "a.apk", "sha256": "0" * 64}]}, {"accounts": [{"name": "x"}]}]
)
def test_the_reference_phone_refuses_what_only_android_has(
    tmp_path: Path, step: dict[str, object]
) -> None:
    phone = RecordingPhone(backend="reference-phone")
    with pytest.raises(UnsupportedError, match="The reference phone has no"):
        apply(phone, tmp_path, **step)
    assert phone.asked == []


@pytest.mark.parametrize(
    ("refuses", "step"),
    [
        ("install", {"apks": [{"file": "a.apk", "sha256": "0" * 64}]}),
        ("put", {"settings": {"global": {"x": 1}}}),
        ("insert", {"rows": [{"uri": "content://x", "values": {"a": 1}}]}),
    ],
)
def test_what_the_phone_refuses_is_an_error(
    tmp_path: Path, refuses: str, step: dict[str, object]
) -> None:
    phone = RecordingPhone(refuses=refuses)
    with pytest.raises(ActionError, match="failed on phone-1"):
        apply(phone, tmp_path, **step)


def test_a_provider_that_reports_an_error_without_an_exit_code_is_an_error(tmp_path: Path) -> None:
    phone = RecordingPhone(output=b"[ERROR] no such column: a\n")
    with pytest.raises(ActionError, match="refused a row of content://x"):
        apply(phone, tmp_path, rows=[{"uri": "content://x", "values": {"a": 1}}])
