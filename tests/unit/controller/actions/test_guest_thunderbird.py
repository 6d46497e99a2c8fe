"""The program that gives a desktop's Thunderbird an account."""

from __future__ import annotations

import base64
import ctypes
import json
import os
from typing import TYPE_CHECKING

import pytest

from controller.actions import guest_thunderbird as guest

if TYPE_CHECKING:
    from pathlib import Path

EMAIL = "ann.lee@office.example"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(guest, "HOME", tmp_path)
    return tmp_path


def test_the_profile_is_that_of_the_installation(home: Path) -> None:
    assert guest.find_profile() is None
    (home / "profiles.ini").write_text("[Profile1]\nPath=other.default\nDefault=1\n")
    (home / "other.default").mkdir()
    assert guest.find_profile() is None  # Thunderbird would make another one
    (home / "installs.ini").write_text("[FDC3]\nDefault=own.default-release\nLocked=1\n")
    assert guest.find_profile() is None
    (home / "own.default-release").mkdir()
    assert guest.find_profile() == home / "own.default-release"


def test_a_profile_that_is_open_is_noticed(home: Path) -> None:
    assert not guest.is_running(home)
    (home / "lock").symlink_to(f"127.0.0.1:+{os.getpid()}")
    assert guest.is_running(home)
    (home / "lock").unlink()
    (home / "lock").symlink_to("127.0.0.1:+99999999")
    assert not guest.is_running(home)


def test_settings_name_the_servers_and_are_written_as_literals(home: Path) -> None:
    prefs = guest.make_prefs(EMAIL, 'Ann "A" Lee')
    assert (
        prefs["mail.identity.id1.fcc_folder"] == "imap://ann.lee%40office.example@mail.example/Sent"
    )
    calendars = [value for name, value in prefs.items() if name.endswith(".uri")]
    assert calendars == [
        f"https://cloud.example/dav/{EMAIL}/{name}/" for name in ("work", "private", "birthdays")
    ]
    (home / "prefs.js").write_text('user_pref("mail.spam.version", 0);')
    guest.write_prefs(home, prefs)
    lines = (home / "prefs.js").read_text().splitlines()
    assert lines[0] == 'user_pref("mail.spam.version", 0);'
    assert 'user_pref("mail.identity.id1.fullName", "Ann \\"A\\" Lee");' in lines
    assert 'user_pref("mail.server.server1.login_at_startup", true);' in lines
    assert all(line.startswith("user_pref(") for line in lines if line)


def test_passwords_are_kept_encrypted_with_the_profiles_key(home: Path) -> None:
    if not any(os.path.exists(f"{folder}/libnss3.so") for folder in guest._NSS_FOLDERS):  # noqa: PTH110
        pytest.skip("needs NSS")
    guest.write_logins(home, EMAIL, "gr\u00fcn & blau")
    content = json.loads((home / "logins.json").read_text())
    assert [row["hostname"] for row in content["logins"]] == [
        "imap://mail.example",
        "smtp://mail.example",
        "https://cloud.example",
    ]
    keys = guest.Keys(home)
    for row in content["logins"]:
        for name, text in (("Username", EMAIL), ("Password", "gr\u00fcn & blau")):
            data = base64.b64decode(row[f"encrypted{name}"])
            box = guest._Item(0, ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data))
            plain = guest._Item(0, None, 0)
            opened = keys._nss.PK11SDR_Decrypt(ctypes.byref(box), ctypes.byref(plain), None)
            assert opened == 0
            assert ctypes.string_at(plain.data, plain.len).decode() == text
    keys.close()
