from __future__ import annotations

import pytest

from appliance.base.errors import ActionError, SpecError
from controller.actions.vocabulary import vocabulary
from controller.episode.preparation import prepare
from evaluators.phone.content import contact_exists, task_completed, task_listed
from evaluators.phone.view import PhoneView
from provisioning.fake import FakeDesktop, FakePhone
from tests.unit.controller.bench import make_task


def done(machine: FakeDesktop | FakePhone, do: str, **args: object) -> None:
    role = machine.info.kind.value
    step = {"on": role, "do": do, "with": args}
    prepare(make_task(roles={role: role}, setup=[step]), {role: machine}, vocabulary())


def view(phone: FakePhone) -> PhoneView:
    return PhoneView(phone, timeout_s=10)


def test_files_are_put_into_the_home_folder() -> None:
    desktop = FakeDesktop()
    done(desktop, "put_file", path="~/a b/note.txt", content="Grüße\n")
    assert desktop.get("/home/user/a b/note.txt") == "Grüße\n".encode()


@pytest.mark.parametrize("size", [0, 512 * 1024, 512 * 1024 + 1])
def test_large_files_go_in_pieces(size: int) -> None:
    desktop = FakeDesktop()
    done(desktop, "put_file", path="/tmp/large", content="x" * size)
    assert desktop.get("/tmp/large") == b"x" * size


def test_a_path_must_be_absolute() -> None:
    with pytest.raises(SpecError, match="not a path of the guest"):
        done(FakeDesktop(), "put_file", path="note.txt")


def test_folders_are_made() -> None:
    desktop = FakeDesktop()
    done(desktop, "make_dir", path="~/folder")
    assert desktop.state.folders == {"/home/user/folder"}


def test_settings_are_set() -> None:
    desktop = FakeDesktop()
    done(desktop, "set_gsetting", schema="s", key="k", value="v")
    assert desktop.state.settings["s", "k"] == "v"
    phone = FakePhone()
    done(phone, "put_setting", namespace="system", key="k", value="a b")
    assert phone.state.settings["system", "k"] == "a b"


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


def test_an_operation_that_fails_says_so() -> None:
    class Deaf(FakeDesktop):
        def obey(self, argv: list[str]) -> str | None:
            return None

    desktop = Deaf()
    with pytest.raises(ActionError, match="gsettings failed"):
        done(desktop, "set_gsetting", schema="s", key="k", value="v")
