from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from controller.actions.vocabulary import vocabulary
from controller.episode.preparation import prepare
from evaluators.desktop.unchanged import REFERENCE_FOLDER, reference_of
from evaluators.phone.content import contact_exists, task_completed, task_listed
from evaluators.phone.view import PhoneView
from foundation.errors import ActionError, SpecError
from foundation.process import CommandResult
from provisioning.fake import FakeDesktop, FakePhone
from tests.unit.controller.bench import make_task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def done(
    machine: FakeDesktop | FakePhone, do: str, folder: Path | None = None, **args: object
) -> None:
    role = machine.info.kind
    step = {"on": role, "do": do, "with": args}
    known = replace(vocabulary(), folder=folder)
    prepare(make_task(roles={role: role}, setup=[step]), {role: machine}, known)


def view(phone: FakePhone) -> PhoneView:
    return PhoneView(phone, timeout_s=10)


def test_files_are_put_into_the_home_folder() -> None:
    desktop = FakeDesktop()
    done(desktop, "put_file", path="~/a b/note.txt", content="Grüße\n")
    assert desktop.get("/home/user/a b/note.txt") == "Grüße\n".encode()


@pytest.mark.parametrize("size", [0, 512 * 1024, 512 * 1024 + 1])
def test_large_files_are_sent_in_pieces(size: int) -> None:
    desktop = FakeDesktop()
    done(desktop, "put_file", path="/tmp/large", content="x" * size)
    assert desktop.get("/tmp/large") == b"x" * size


def test_path_must_be_absolute() -> None:
    with pytest.raises(
        SpecError, match=r'path: "note.txt" is a relative path. Write "~/note.txt" for'
    ):
        done(FakeDesktop(), "put_file", path="note.txt")


def test_settings_are_set() -> None:
    desktop = FakeDesktop()
    done(desktop, "set_gsetting", schema="s", key="k", value="v")
    assert desktop.state.settings["s", "k"] == "v"
    phone = FakePhone()
    done(phone, "put_setting", namespace="system", key="k", value="a b")
    assert phone.state.settings["system", "k"] == "a b"


@pytest.mark.slow
def test_apps_are_opened() -> None:
    desktop, phone = FakeDesktop(), FakePhone()
    done(desktop, "start_app", name="Terminal")
    done(phone, "open_app", name="Tasks")
    assert desktop.state.apps == ["Terminal"]
    assert phone.state.front == "com.google.android.apps.tasks"


@pytest.mark.parametrize("title", ["Buy milk", "a:b, c='d' \"e\" $(f)", "Öl, 你好"])
def test_tasks_are_found_by_the_evaluators(title: str) -> None:
    phone = FakePhone()
    done(phone, "add_task", title=title)
    assert task_listed(view(phone), title)
    assert not task_completed(view(phone), title)


def test_completed_tasks_are_found_by_the_evaluators() -> None:
    phone = FakePhone()
    done(phone, "add_task", title="t", done=True)
    assert task_completed(view(phone), "t")


def test_contacts_are_found_by_the_evaluators() -> None:
    phone = FakePhone()
    done(phone, "add_contact", name="Ada Lovelace", phone="+44 20 1234", email="ada@example.org")
    done(phone, "add_contact", name="Alan Turing", phone="+44 161 99")
    assert contact_exists(view(phone), "Ada Lovelace", "+44201234", "ada@example.org")
    assert contact_exists(view(phone), "Alan Turing", "+4416199")
    assert not contact_exists(view(phone), "Alan Turing", "+44201234")


def test_failed_operation_is_reported() -> None:
    class Deaf(FakeDesktop):
        def run_command(self, argv: list[str]) -> str | None:
            return None

    desktop = Deaf()
    with pytest.raises(ActionError, match="gsettings failed"):
        done(desktop, "set_gsetting", schema="s", key="k", value="v")


def test_row_refused_by_the_phone_is_reported_with_its_error_output() -> None:
    class Strict(FakePhone):
        def run(self, argv: Sequence[str], **options: Any) -> CommandResult:  # noqa: ANN401
            if "content insert" not in " ".join(argv):
                return super().run(argv, **options)
            text = b"[ERROR] Unsupported argument: x\n"  # with exit code 0, as Android does
            return CommandResult(tuple(argv), 0, text, b"")

    with pytest.raises(ActionError, match="refused a row of content://sms") as caught:
        done(Strict(), "add_message", number="555", text="a")
    assert "Unsupported argument: x" in caught.value.details


def test_folders_are_made_and_a_reference_is_inaccessible() -> None:
    desktop = FakeDesktop()
    done(desktop, "make_dir", path="~/folder")
    done(desktop, "put_file", path="~/folder/a", content="a")
    done(desktop, "keep_reference", path="~/folder")
    kept = reference_of("~/folder", "/home/user")
    assert {"/home/user/folder", REFERENCE_FOLDER} <= desktop.state.folders
    assert desktop.get(f"{kept}/a") == b"a"
    done(desktop, "put_file", path="~/folder/a", content="b")
    assert desktop.get(f"{kept}/a") == b"a"


def test_owner_and_mode_are_those_of_the_task() -> None:
    desktop = FakeDesktop()
    done(desktop, "put_file", path="/srv/key", content="k", mode="0600", owner="root")
    done(desktop, "put_file", path="~/mine")
    kept, mine = (desktop.state.files[path] for path in ("/srv/key", "/home/user/mine"))
    assert (kept.owner, kept.mode) == ("root", 0o600)
    assert (mine.owner, mine.mode) == ("user", 0o644)


def test_suite_files_and_trees_are_copied_byte_by_byte(tmp_path: Path) -> None:
    (tmp_path / "data/deep/none").mkdir(parents=True)
    (tmp_path / "data/deep/run.sh").write_bytes(b"\x00\xff")
    (tmp_path / "data/deep/run.sh").chmod(0o755)
    (tmp_path / "data/a.bin").write_bytes(b"\r\n\x00")
    desktop = FakeDesktop()
    done(desktop, "copy_files", folder=tmp_path, source="data", path="/srv/d", owner="root")
    done(desktop, "copy_files", folder=tmp_path, source="data/a.bin", path="~/b", mode="0600")
    files = {path: (file.data, file.mode, file.owner) for path, file in desktop.state.files.items()}
    assert files == {
        "/srv/d/a.bin": (b"\r\n\x00", 0o644, "root"),
        "/srv/d/deep/run.sh": (b"\x00\xff", 0o755, "root"),
        "/home/user/b": (b"\r\n\x00", 0o600, "user"),
    }
    assert "/srv/d/deep/none" in desktop.state.folders


@pytest.mark.parametrize("source", ["../secret", "none", "data/link"])
def test_files_outside_the_suite_are_not_copied(tmp_path: Path, source: str) -> None:
    (tmp_path / "secret").write_text("s")
    folder = tmp_path / "suite"
    (folder / "data").mkdir(parents=True)
    (folder / "data/link").symlink_to(tmp_path / "secret")
    with pytest.raises(SpecError, match="step 1, copy_files on desktop: "):
        done(FakeDesktop(), "copy_files", folder=folder, source=source, path="~/a")


def test_commands_are_awaited_and_their_exit_code_is_checked() -> None:
    desktop = FakeDesktop()
    done(desktop, "run", command="echo hi > a.txt && cp a.txt /srv/b", user="root")
    assert desktop.get("/srv/b") == b"hi\n"
    done(desktop, "run", command="unknown", exit_code=127)
    with pytest.raises(ActionError, match=r"step 1, run on desktop: .* ended with 127, not 0"):
        done(desktop, "run", command="unknown")


@pytest.mark.slow
def test_programs_and_documents_are_opened_and_awaited() -> None:
    desktop = FakeDesktop()
    done(desktop, "start_program", desktop_id="org.gnome.Terminal")
    done(desktop, "put_file", path="~/a.txt")
    done(desktop, "open_document", path="~/a.txt")
    assert desktop.state.apps == ["Terminal", "Text Editor"]
    done(desktop, "open_document", path="~/a.txt", desktop_id="org.gnome.Nautilus")
    assert desktop.state.apps[-1] == "Files"


def test_misspelt_desktop_id_is_reported_with_nearest_match() -> None:
    with pytest.raises(ActionError, match="no application") as caught:
        done(FakeDesktop(), "start_program", desktop_id="org.gnome.Terminl")
    assert "Did you mean 'org.gnome.Terminal'" in caught.value.resolution


@pytest.mark.parametrize(
    ("do", "args", "message"),
    [
        ("start_app", {"name": "Nine"}, "start_app cannot start 'Nine'"),
        ("start_program", {"desktop_id": "nine"}, "no application 'nine'"),
        ("open_document", {"path": "~/none"}, "no file ~/none to open"),
        (
            "start_program",
            {"desktop_id": "org.gnome.Terminal", "args": ["file:///home/user/a%20b.html"]},
            "no file file:///home/user/a%20b.html to open",
        ),
        ("keep_reference", {"path": "~/none"}, "cp failed"),
    ],
)
def test_error_names_the_failed_operation(do: str, args: dict[str, Any], message: str) -> None:
    with pytest.raises(ActionError, match=f"step 1, {do} on desktop: .*{message}"):
        done(FakeDesktop(), do, **args)


@pytest.mark.slow
def test_missing_window_fails_the_setup() -> None:
    class Slow(FakeDesktop):
        def open_app(self, name: str) -> None:
            del name

    with pytest.raises(
        ActionError, match=r"org.gnome.Terminal was not shown within 0.01 s: no window"
    ):
        done(Slow(), "start_program", desktop_id="org.gnome.Terminal", wait_s=0.01)


@pytest.mark.slow
def test_startup_picture_of_a_program_is_not_its_window() -> None:
    asked: list[str] = []

    class Large(FakeDesktop):
        """Shows its splash screen until the third query."""

        def run(self, argv: Sequence[str], **options: Any) -> CommandResult:  # noqa: ANN401
            if argv[0] != "xprop":
                return super().run(argv, **options)
            asked.append(argv[2])
            kind = "SPLASH" if len(asked) < 3 else "NORMAL"
            line = f"_NET_WM_WINDOW_TYPE(ATOM) = _NET_WM_WINDOW_TYPE_{kind}\n"
            return CommandResult(tuple(argv), 0, line.encode(), b"")

    done(Large(), "start_program", desktop_id="org.gnome.Terminal")
    assert len(asked) > 3


def test_every_phone_provider_takes_rows(tmp_path: Path) -> None:
    phone = FakePhone()
    done(phone, "add_message", number="555", text="a: b, c", box="sent", read=False)
    done(phone, "add_call", number="556", kind="outgoing", duration_s=7)
    done(phone, "add_event", title="Tea", begins="2026-03-31 14:30", minutes=90, place="Home")
    done(phone, "add_row", uri="content://com.google.android.keep/notes", values={"title": "n"})
    rows = phone.state.rows
    assert rows["content://sms"][0] | {"_id": ""} == {
        "_id": "", "address": "555", "body": "a: b, c", "type": "2", "read": "0",
    }  # fmt: skip
    assert rows["content://call_log/calls"][0]["duration"] == "7"
    (event,) = rows["content://com.android.calendar/events"]
    assert int(event["dtend"]) - int(event["dtstart"]) == 90 * 60 * 1000
    assert event["dtstart"] == "1774967400000"
    assert rows["content://com.google.android.keep/notes"][0]["title"] == "n"
    (tmp_path / "p.png").write_bytes(b"\x89P")
    done(phone, "put_file", folder=tmp_path, path="/sdcard/p.png", source="p.png")
    assert phone.get("/sdcard/p.png") == b"\x89P"
