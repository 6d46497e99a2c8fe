"""A database written by dconf 0.40, and a live dconf if this host has one."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.process import run
from provisioning.probe.system import settings
from provisioning.probe.system.settings import UNREADABLE, read_settings

SCHEME = "/org/gnome/desktop/interface/color-scheme"
FONT = "/org/gnome/desktop/interface/font-name"
REAL = bytes.fromhex(
    "4756617269616e74000000000000000018000000e400000000000028070000000000000000000000"
    "01000000030000000300000004000000040000004b50900b01000000e400000004004c00e8000000"
    "ec000000d4b50200ffffffffec00000001004c00f0000000f40000009a47b79604000000f4000000"
    "0c007600000100000e010000b988fdda060000000e01000008004c00180100001c01000039c53b4f"
    "030000001c0100000a004c0028010000300100009ed84ca904000000300100000900760040010000"
    "4a010000b0b72430000000004a01000006004c0050010000540100006f72672f060000002f000000"
    "00000000636f6c6f722d736368656d657072656665722d6461726b0000736465736b746f702f0000"
    "04000000696e746572666163652f00000200000005000000666f6e742d6e616d6500000000000000"
    "53616e73203132000073676e6f6d652f03000000"
)


def read(tmp_path: Path, data: bytes) -> dict[str, str]:
    path = tmp_path / "user"
    path.write_bytes(data)
    return read_settings(str(path))


def test_each_key_has_a_digest_of_its_value(tmp_path: Path) -> None:
    before = read(tmp_path, REAL)
    assert sorted(before) == [SCHEME, FONT]
    after = read(tmp_path, REAL.replace(b"Sans 12", b"Sans 13"))
    assert after[SCHEME] == before[SCHEME]
    assert after[FONT] != before[FONT]


def test_missing_database_has_no_settings(tmp_path: Path) -> None:
    assert read_settings(str(tmp_path / "none")) == {}


def test_too_many_settings_are_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "MAX_CHARS", 10)
    assert list(read(tmp_path, REAL)) == [UNREADABLE]


def test_item_that_is_its_own_parent_has_no_name(tmp_path: Path) -> None:
    # The item of the key color-scheme is at 0x6c; its parent's number follows its hash.
    broken = bytearray(REAL)
    broken[0x70:0x74] = (2).to_bytes(4, "little")
    assert list(read(tmp_path, bytes(broken))) == [UNREADABLE]


@given(at=st.integers(0, len(REAL) - 1), value=st.integers(0, 255), end=st.integers(0, len(REAL)))
def test_damaged_database_is_read_or_one_row(at: int, value: int, end: int) -> None:
    damaged = bytearray(REAL)
    damaged[at] = value
    with tempfile.TemporaryDirectory() as folder:
        rows = read(Path(folder), bytes(damaged[:end]))
    assert all(len(digest) == 16 for digest in rows.values())


@pytest.mark.skipif(
    not (shutil.which("gsettings") and shutil.which("dbus-run-session")), reason="needs dconf"
)
def test_reads_a_database_of_the_installed_dconf(tmp_path: Path) -> None:
    script = "gsettings set org.gnome.desktop.interface color-scheme prefer-dark"
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "GSETTINGS_BACKEND": "dconf"}
    run(["dbus-run-session", "--", "sh", "-c", script], env=env, timeout_s=60)
    path = tmp_path / "dconf/user"
    if not path.exists():
        pytest.skip("this host has no dconf service or schema")
    assert list(read_settings(str(path))) == [SCHEME]
