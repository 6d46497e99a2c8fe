"""Desktop evaluators on a real home folder through the probe's own Guest."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evaluators.bundle import desktop_bundle
from evaluators.desktop.files import file_exists, path_absent
from evaluators.desktop.folders import directories_equal, directory_exists, directory_lists
from evaluators.desktop.programs import process_running
from evaluators.desktop.settings import gsetting_equals
from evaluators.desktop.texts import file_has_line, file_text_equals
from evaluators.desktop.windows import window_in_front, window_open
from foundation.process import run
from provisioning.probe.guest import Guest
from provisioning.probe.system.identity import Identity
from provisioning.probe.system.session import Sessions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SCHEMA = "org.gnome.desktop.interface"


class Desktop(Guest):
    """A Guest whose home is a temporary folder, with configurable windows and settings."""

    def __init__(self, home: Path) -> None:
        sessions = Sessions(Identity.own().name)
        sessions.identity = Identity.own()._replace(home=str(home))
        super().__init__(sessions)
        self.settings: dict[tuple[str, str], str] = {}

    def show(self, *windows: tuple[str, str, bool]) -> None:
        self._windows = [
            {
                "id": n,
                "title": title,
                "wm_class": [app.lower(), app],
                "pid": 1,
                "active": active,
                "visible": True,
            }
            for n, (app, title, active) in enumerate(windows)
        ]

    def title_of(self, window: dict[str, Any]) -> str:
        return str(window["title"])

    def run_as_user(self, argv: Sequence[str], timeout_s: float = 10.0) -> tuple[int, bytes, bytes]:
        assert list(argv[:2]) == ["/usr/bin/gsettings", "get"]
        value = self.settings.get((argv[2], argv[3]))
        return (1, b"", b"No such key") if value is None else (0, f"{value}\n".encode(), b"")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def guest(home: Path) -> Desktop:
    return Desktop(home)


# --- files and folders ---


@pytest.fixture
def abyss(home: Path) -> Iterator[Path]:
    """Return a folder nested deeper than Python's recursion limit."""
    top = home / "s"
    top.mkdir()
    fd = os.open(top, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=fd)
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    yield top
    run(["rm", "-rf", str(top)], timeout_s=300)


@pytest.mark.slow
def test_too_deep_folder_equals_no_other(guest: Desktop, home: Path, abyss: Path) -> None:
    (home / "t").mkdir()
    assert not directories_equal(guest, str(abyss), "~/t")


def test_file_exists_by_tilde_or_absolute_path_even_if_empty(guest: Desktop, home: Path) -> None:
    (home / "a.txt").touch()
    assert file_exists(guest, "~/a.txt")
    assert file_exists(guest, str(home / "a.txt"))
    assert not path_absent(guest, "~/a.txt")
    assert not directory_exists(guest, "~/a.txt")


@pytest.mark.parametrize(
    "path", ["~/a.tx", "~/A.txt", "~/a.txt.bak", "~/sub/a.txt", "~/a.txt/b", "/a.txt"]
)
def test_file_of_another_name_or_place_is_unmet(guest: Desktop, home: Path, path: str) -> None:
    (home / "a.txt").touch()
    assert not file_exists(guest, path)
    assert not file_text_equals(guest, path, "")
    assert path_absent(guest, path)


def test_folders_and_pipes_are_not_files(guest: Desktop, home: Path) -> None:
    (home / "d").mkdir()
    os.mkfifo(home / "p")
    assert directory_exists(guest, "~/d")
    assert not file_exists(guest, "~/d")
    for check in (file_exists, directory_exists):
        assert not check(guest, "~/p")
    assert not file_text_equals(guest, "~/p", "")
    assert not path_absent(guest, "~/p")


def test_links_are_not_followed(guest: Desktop, home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("right\n")
    (home / "a.txt").symlink_to(outside / "a.txt")
    (home / "d").symlink_to(outside)
    (home / "lost").symlink_to(home / "nowhere")
    assert not file_exists(guest, "~/a.txt")
    assert not file_text_equals(guest, "~/a.txt", "right")
    assert not file_has_line(guest, "~/d/a.txt", "right")
    assert not directory_exists(guest, "~/d")
    assert not path_absent(guest, "~/lost")
    assert file_text_equals(guest, str(outside / "a.txt"), "right")


def test_home_behind_a_link_is_supported(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "a.txt").write_text("x")
    (tmp_path / "home").symlink_to(real)
    assert file_text_equals(Desktop(tmp_path / "home"), "~/a.txt", "x")


def test_folder_must_list_exactly_its_entries(guest: Desktop, home: Path) -> None:
    folder = home / "d"
    assert not directory_lists(guest, "~/d", [])
    folder.mkdir()
    assert directory_lists(guest, "~/d", [])
    for name in ("b.txt", "a.txt", ".lock"):
        (folder / name).touch()
    assert directory_lists(guest, "~/d", ["a.txt", "b.txt"])
    assert directory_lists(guest, "~/d", ["b.txt", "a.txt"])
    for near in (
        ["a.txt"],
        ["a.txt", "b.txt", "c.txt"],
        ["A.txt", "b.txt"],
        ["a.txt", "a.txt"],
        [],
    ):
        assert not directory_lists(guest, "~/d", near)
    (home / "link").symlink_to(folder)
    assert not directory_lists(guest, "~/link", ["a.txt", "b.txt"])


# --- content ---


@pytest.mark.parametrize("content", ["one\ntwo", "one\ntwo\n", "one\r\ntwo\r\n", "\ufeffone\ntwo"])
def test_file_text_may_end_in_one_newline(guest: Desktop, home: Path, content: str) -> None:
    (home / "a.txt").write_bytes(content.encode())
    assert file_text_equals(guest, "~/a.txt", "one\ntwo\n")
    assert file_text_equals(guest, "~/a.txt", "one\ntwo")


@pytest.mark.parametrize(
    "content",
    [b"", b"one", b"one\ntwo\n\n\n", b"one\ntwo ", b"One\ntwo", b" one\ntwo", b"xone\ntwo",
     b"one\ntwo\xff", b"\x00", "one\ntwo".encode("utf-16")],
)  # fmt: skip
def test_near_misses_and_garbage_are_unmet(guest: Desktop, home: Path, content: bytes) -> None:
    (home / "a.txt").write_bytes(content)
    assert not file_text_equals(guest, "~/a.txt", "one\ntwo")


def test_empty_file_has_empty_text_and_a_missing_one_none(guest: Desktop, home: Path) -> None:
    (home / "a.txt").touch()
    assert file_text_equals(guest, "~/a.txt", "")
    assert not file_text_equals(guest, "~/b.txt", "")
    assert not file_has_line(guest, "~/b.txt", "")


def test_huge_file_is_unmet_and_not_read(guest: Desktop, home: Path) -> None:
    with (home / "a.txt").open("wb") as file:
        file.truncate(1 << 40)
    assert file_exists(guest, "~/a.txt")
    assert not file_text_equals(guest, "~/a.txt", "x")
    assert not file_has_line(guest, "~/a.txt", "x")


def test_line_matches_as_a_whole(guest: Desktop, home: Path) -> None:
    (home / "a.txt").write_text("first\n  Ann: 0441234567 \nlast")
    assert file_has_line(guest, "~/a.txt", "Ann: 0441234567")
    assert file_has_line(guest, "~/a.txt", "last")
    for near in ("0441234567", "Ann: 044123456", "ann: 0441234567", "first\n  Ann: 0441234567"):
        assert not file_has_line(guest, "~/a.txt", near)


def test_non_ascii_text_is_compared_in_nfc(guest: Desktop, home: Path) -> None:
    (home / "Übung.txt").write_text("Zürich ✓\n", encoding="utf-8")
    assert file_text_equals(guest, "~/Übung.txt", "Zürich ✓")
    assert file_text_equals(guest, "~/Übung.txt", "Zu\u0308rich ✓")
    assert not file_text_equals(guest, "~/Übung.txt", "Zurich ✓")


# --- settings ---


def test_setting_must_be_equal(guest: Desktop) -> None:
    guest.settings[SCHEMA, "color-scheme"] = "'prefer-dark'"
    guest.settings[SCHEMA, "clock-show-seconds"] = "true"
    assert gsetting_equals(guest, SCHEMA, "color-scheme", "prefer-dark")
    assert gsetting_equals(guest, SCHEMA, "clock-show-seconds", "true")
    for near in ("dark", "prefer-dar", "Prefer-dark", "'prefer-dark'", ""):
        assert not gsetting_equals(guest, SCHEMA, "color-scheme", near)


def test_unknown_setting_cannot_be_decided(guest: Desktop) -> None:
    with pytest.raises(ValueError, match="No such key"):
        gsetting_equals(guest, SCHEMA, "colour-scheme", "x")


# --- processes and windows ---


def test_process_is_identified_by_its_file_not_its_name(guest: Desktop, home: Path) -> None:
    own = str(Path(sys.executable).resolve())
    assert process_running(guest, own)
    assert not process_running(guest, Path(own).name)
    assert not process_running(guest, f"{own}x")
    assert not process_running(guest, sys.argv[0])


def test_processes_of_other_users_do_not_count(guest: Desktop, home: Path) -> None:
    own = str(Path(sys.executable).resolve())
    guest._processes = [process._replace(uid=process.uid + 1) for process in guest.processes()]
    assert not process_running(guest, own)


def test_front_window_is_identified_by_class_and_title(guest: Desktop) -> None:
    guest.show(("Gedit", "notes.txt (~/) - gedit", False), ("Gnome-terminal", "notes.txt", True))
    assert window_in_front(guest, "gnome-terminal")
    assert window_in_front(guest, "Gnome-terminal", "notes")
    assert not window_in_front(guest, "Gedit", "notes.txt")
    assert not window_in_front(guest, "terminal")
    assert not window_in_front(guest, "Gnome-terminal", "Notes")
    assert window_open(guest, "Gedit", "notes.txt")
    assert not window_open(guest, "Gedit", "other.txt")
    assert not window_open(guest, "")


def test_desktop_without_windows_has_none_in_front(guest: Desktop) -> None:
    guest.show()
    assert not window_in_front(guest, "gedit")
    assert not window_open(guest, "gedit")


# --- in the guest ---


def test_bundle_needs_only_python_3_9_and_the_standard_library() -> None:
    allowed = set(sys.stdlib_module_names) | {"evaluators", "mesocosm"}
    for name, source in desktop_bundle().modules.items():
        tree = ast.parse(source, name, feature_version=(3, 9))
        for node in _run_at_import(tree):
            names = (
                [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            )
            assert {str(module).split(".")[0] for module in names} <= allowed, name


def _run_at_import(tree: ast.Module) -> list[Any]:
    return [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]


# A desktop container without IPv6: a loopback interface with only an IPv4 address.
WITHOUT_IPV6 = (
    "ip link set lo up; echo 1 > /proc/sys/net/ipv6/conf/lo/disable_ipv6; "
    'exec "$0" -c "from types import SimpleNamespace; from evaluators.desktop.web import ask; '
    "guest = SimpleNamespace(home='/'); print(ask(guest, 'GET', 'http://127.0.0.1:9/').status, "
    "ask(guest, 'GET', 'http://[::1]:9/').status)\""
)


def test_service_at_an_address_outside_the_desktop_is_absent() -> None:
    argv = ["unshare", "-n", "/bin/sh", "-c", WITHOUT_IPV6, sys.executable]
    result = run(argv, cwd=Path(__file__).parents[3], env={"PYTHONPATH": "."}).require()
    assert result.text == "0 0"
