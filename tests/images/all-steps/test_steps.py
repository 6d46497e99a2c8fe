"""The specification of the image with every kind of step, which tests/integration builds."""

from __future__ import annotations

import json
from typing import Any


def test_packages(host: Any) -> None:
    assert host.package("hello").is_installed


def test_debs(host: Any) -> None:
    assert host.package("mesocosm-greeting").version == "1.0"
    assert host.package("figlet").is_installed
    assert host.file("/usr/share/greeting/text").content_string == "hello\n"


def test_archives(host: Any) -> None:
    page = host.file("/opt/tool/share/page.html")
    assert (page.content_string, page.user) == ("a note\n", "root")


def test_pip(desktop: Any) -> None:
    assert "moo" in desktop.check_output("python3 -c \"import cowsay; cowsay.cow('moo')\"")


def test_files_and_data(host: Any) -> None:
    for folder in ("Notes", "Documents", ".config/tool"):
        note = host.file(f"/home/user/{folder}/note.txt")
        assert (note.content_string, note.user, note.mode) == ("a note\n", "user", 0o644)


def test_commands(host: Any) -> None:
    assert host.file("/home/user/who.txt").content_string == "user\na note\n"
    assert host.file("/home/user/.session-ran").user == "user"


def test_settings(desktop: Any) -> None:
    def value(schema: str, key: str) -> str:
        return str(desktop.check_output(f"gsettings get {schema} {key}")).strip()

    assert value("org.gnome.desktop.interface", "cursor-blink") == "false"
    assert value("org.gnome.desktop.peripherals.keyboard", "delay") == "uint32 400"


def test_fonts(desktop: Any) -> None:
    assert "codicon" in desktop.check_output("fc-list")


def test_bookmarks(host: Any) -> None:
    policies = json.loads(host.file("/etc/firefox/policies/policies.json").content_string)[
        "policies"
    ]
    assert [row["Title"] for row in policies["Bookmarks"]] == ["Tool"]


def test_locale_and_time_zone(host: Any, desktop: Any) -> None:
    assert "en_GB.utf8" in desktop.check_output("locale -a")
    assert desktop.check_output("echo $LANG").strip() == "en_GB.UTF-8"
    assert host.check_output("date +%Z") in {"CET", "CEST"}


def test_the_started_program_is_open(screen: Any) -> None:
    window = screen.see("note.txt", "started")
    assert "gedit" in window.wm_class.lower()


def test_size(host: Any, screen: Any) -> None:
    memory_kib = int(host.check_output("awk '/MemTotal/ {print $2}' /proc/meminfo"))
    assert 2_200_000 < memory_kib < 2_600_000
    from PIL import Image

    with Image.open(screen.picture("whole")) as picture:
        assert picture.size == (1024, 768)
