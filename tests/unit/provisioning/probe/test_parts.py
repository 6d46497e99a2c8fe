"""Small parts of the probe: applications, digests, in-memory imports."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until
from foundation.process import kill_group, start
from provisioning.probe.errors import ProbeError
from provisioning.probe.importer import CodeBundle
from provisioning.probe.system import apps, digest, proc
from provisioning.probe.system.identity import Identity
from provisioning.reset.digests import StateDigest
from tests.evaluator_cases.processes import WITHOUT_FIRST_THREAD
from tests.standins.states import a_digest

if TYPE_CHECKING:
    from types import CodeType


INSTALLED = [
    apps.App("org.gnome.Nautilus", "Files", "", "/n", is_shown=True),
    apps.App("org.gnome.Terminal", "Terminal", "", "/t", is_shown=True),
    apps.App("org.gnome.gedit", "gedit", "Text Editor", "/g", is_shown=True),
    apps.App("libreoffice-calc", "LibreOffice Calc", "Spreadsheet", "/c", is_shown=True),
    apps.App("hidden-tool", "Files", "", "/h", is_shown=False),
]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Files", "/n"),
        ("terminal", "/t"),
        ("Text Editor", "/g"),
        ("org.gnome.Terminal.desktop", "/t"),
        ("Nautilus", "/n"),
        ("calc", "/c"),
        ("hidden-tool", "/h"),
    ],
)
def test_application_is_found_by_each_of_its_names(name: str, path: str) -> None:
    assert apps.choose(INSTALLED, name).path == path


@pytest.mark.parametrize(
    ("name", "near"), [("Terminl", "Terminal"), ("", "Files"), ("zzz", "gedit")]
)
def test_unknown_application_is_rejected_with_known_names(name: str, near: str) -> None:
    with pytest.raises(ProbeError, match=near):
        apps.choose(INSTALLED, name)


def test_desktop_files_are_read_and_hidden_ones_skipped(tmp_path: Path) -> None:
    folder = tmp_path / ".local/share/applications"
    folder.mkdir(parents=True)
    head = "[Desktop Entry]\nType=Application\n"
    (folder / "mine.desktop").write_text(f"{head}Name=My App\nName[de]=Meine\nExec=x %U\n")
    (folder / "gone.desktop").write_text(f"{head}Name=Gone\nHidden=true\n")
    (folder / "broken.desktop").write_text("no group\n")
    own_apps = [app for app in apps.list_apps(str(tmp_path)) if app.path.startswith(str(tmp_path))]
    assert [(app.app_id, app.name, app.is_shown) for app in own_apps] == [("mine", "My App", True)]


@pytest.fixture
def home(tmp_path: Path) -> Identity:
    (tmp_path / "Documents").mkdir()
    (tmp_path / "Documents" / "a").write_text("one")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "noise").write_text("x")
    return Identity.own()._replace(home=str(tmp_path))


def take(identity: Identity) -> StateDigest:
    own = digest.take(identity, {os.getpid()})
    shown = {"windows": [], "selections": {}, "unseen": ""}
    return StateDigest.model_validate({"format": digest.FORMAT, **own, **shown})


def raw_row(pid: int) -> list[bytes]:
    return [row for row in proc.raw_rows(os.getuid()) if f" {pid} (".encode() in row]


def test_unchanged_home_has_no_differences(home: Identity) -> None:
    before = take(home)
    (Path(home.home) / ".cache" / "noise").write_text("more")
    assert before.differences(take(home).model_copy(update={"processes": before.processes})) == ()


@pytest.mark.parametrize("change", ["written", "made", "removed", "mode", "settings", "recent"])
def test_every_home_change_is_a_difference(home: Identity, change: str) -> None:
    before, folder = take(home), Path(home.home)
    match change:
        case "written":
            (folder / "Documents/a").write_text("two")
        case "made":
            (folder / "Documents/b").symlink_to("a")
        case "removed":
            (folder / "Documents/a").unlink()
        case "mode":
            (folder / "Documents/a").chmod(0o600)
        case "settings":
            (folder / ".config/dconf").mkdir(parents=True)
            (folder / ".config/dconf/user").write_bytes(b"db")
        case _:
            (folder / ".local/share").mkdir(parents=True)
            (folder / ".local/share/recently-used.xbel").write_text("<xbel/>")
    after = take(home).model_copy(update={"processes": before.processes})
    assert before.differences(after)


def test_processes_started_or_ended_are_differences() -> None:
    before = a_digest(processes=["a /a", "b /b", "b /b"])
    after = a_digest(processes=["b /b", "c /c"])
    assert before.differences(after) == (
        "process gone: a /a",
        "process gone: b /b",
        "process new: c /c",
    )


def test_own_processes_and_their_descendants_are_excluded() -> None:
    def one(pid: int, ppid: int) -> proc.Process:
        return proc.Process(pid, ppid, 0, "x", ("x",))

    assert proc.descendants([one(2, 1), one(3, 2), one(4, 3), one(5, 1)], {2}) == {2, 3, 4}


MODULES = {
    "bundle_a.one": "from bundle_a.two import X\nfrom . import three\nY = X + 1\ndef one(): pass\n",
    "bundle_a.two": "X = 41\ndef two():\n    import wave\n",
    "bundle_a.three": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import bundle_a.four\n",
    "bundle_a.four": "def (",
}


@pytest.fixture
def bundle(monkeypatch: pytest.MonkeyPatch) -> CodeBundle:
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "modules", {k: v for k, v in sys.modules.items() if k != "wave"})
    return CodeBundle(MODULES)


def test_modules_in_memory_import_each_other(bundle: CodeBundle) -> None:
    installed = bundle.install(["bundle_a.one", "bundle_a.two"])
    assert [vars(module).get("Y") for module in installed] == [42, None]


def test_only_requested_and_imported_modules_are_compiled(
    bundle: CodeBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []
    code_of = bundle.code_of

    def code_of_noted(name: str) -> CodeType:
        compiled.append(name)
        return code_of(name)

    monkeypatch.setattr(bundle, "code_of", code_of_noted)
    assert bundle.modules_of(["one"]) == ["bundle_a.one"]
    bundle.prepare(["bundle_a.one"])
    assert sorted(compiled) == ["bundle_a", "bundle_a.one", "bundle_a.three", "bundle_a.two"]
    assert "wave" in sys.modules  # external imports, at any position


def test_all_modules_are_imported_for_a_function_found_in_none() -> None:
    modules = {"a": "def one(): pass\n", "b": "two = lambda: None\n"}
    assert CodeBundle(modules).modules_of(["one", "two"]) == ["a", "b"]
    assert CodeBundle(modules).modules_of([]) == []


def test_broken_source_is_reported_with_its_module_on_first_use(bundle: CodeBundle) -> None:
    bundle.prepare(bundle.modules_of(["one", "two"]))
    with pytest.raises(SyntaxError) as caught:
        bundle.prepare(["bundle_a.four"])
    assert caught.value.filename == "<bundle bundle_a.four>"


def test_process_exists_until_its_last_thread_has_ended() -> None:
    started = start([sys.executable, "-c", WITHOUT_FIRST_THREAD])
    status = Path(f"/proc/{started.pid}/stat")
    try:
        assert wait_until(lambda: ") Z " in status.read_text(), timeout_s=20)
        (row,) = [
            process for process in proc.list_processes(os.getuid()) if process.pid == started.pid
        ]
        assert row.argv == (sys.executable, "-c", WITHOUT_FIRST_THREAD)
        (with_threads,) = raw_row(started.pid)
        assert WITHOUT_FIRST_THREAD.encode() in with_threads
        started.kill()
        os.waitid(os.P_PID, started.pid, os.WEXITED | os.WNOWAIT)
        (ended,) = raw_row(started.pid)
        assert ended != with_threads
        assert started.pid not in {process.pid for process in proc.list_processes()}
    finally:
        kill_group(started)
        started.communicate()
