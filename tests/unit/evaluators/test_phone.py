"""Phone evaluators: states that meet them, near misses, and undecided states."""

from __future__ import annotations

import pytest

from evaluators.phone.content import (
    CONTACTS,
    EMAILS,
    PHONES,
    TASKS,
    contact_exists,
    setting_equals,
    task_completed,
    task_listed,
)
from evaluators.phone.rows import read_column
from evaluators.phone.screen import app_in_front, ui_text_shown
from evaluators.phone.view import PhoneView
from evaluators.testing.shell import DUMPSYS, TableShell
from foundation.clock import FakeClock
from foundation.errors import EvaluationError

TASKS_APP = "com.google.android.apps.tasks"
DUMP = "uiautomator dump /dev/tty"
DUMP_ACTIVITIES = "dumpsys activity activities"


@pytest.fixture
def shell() -> TableShell:
    return TableShell()


def see(shell: TableShell) -> PhoneView:
    return PhoneView(shell, timeout_s=10)


# --- app_in_front ---


def test_front_app_is_identified_by_its_whole_package(shell: TableShell) -> None:
    shell.resume("com.google.android.apps.docs.editors.docs/.Home")
    assert app_in_front(see(shell), "com.google.android.apps.docs.editors.docs")
    assert not app_in_front(see(shell), "com.google.android.apps.docs")
    assert not app_in_front(see(shell), "")


def test_front_app_of_older_androids_is_read(shell: TableShell) -> None:
    record = "ActivityRecord{ab u0 com.android.settings/.Settings$Wifi t3}"
    shell.answers[DUMP_ACTIVITIES] = f"{DUMPSYS}    mResumedActivity: {record}\n"
    assert see(shell).front_activity() == ("com.android.settings", ".Settings$Wifi")


def test_app_in_the_back_stack_is_not_in_front(shell: TableShell) -> None:
    shell.resume("org.mesocosm.launcher/.Home")
    back = f"    * Hist #0: ActivityRecord{{1 u0 {TASKS_APP}/.Main t2}}\n"
    shell.answers[DUMP_ACTIVITIES] = f"{shell.answers[DUMP_ACTIVITIES]}{back}"
    assert not app_in_front(see(shell), TASKS_APP)


def test_no_resumed_app_is_unmet_and_no_output_undecided(shell: TableShell) -> None:
    shell.answers[DUMP_ACTIVITIES] = f"{DUMPSYS}  ResumedActivity: null\n"
    assert not app_in_front(see(shell), TASKS_APP)
    for silence in ("", 1, "error: device offline"):
        shell.answers[DUMP_ACTIVITIES] = silence
        with pytest.raises(EvaluationError):
            app_in_front(see(shell), TASKS_APP)


# --- ui_text_shown ---


def test_shown_text_matches_text_or_description_of_the_app(shell: TableShell) -> None:
    shell.show(
        f'text="Buy milk" resource-id="{TASKS_APP}:id/task_name" package="{TASKS_APP}"',
        f'text="" content-desc="Add task &amp; more" package="{TASKS_APP}"',
    )
    assert ui_text_shown(see(shell), "Buy milk", TASKS_APP)
    assert ui_text_shown(see(shell), "Buy milk", TASKS_APP, "task_name")
    assert ui_text_shown(see(shell), "Buy milk", TASKS_APP, f"{TASKS_APP}:id/task_name")
    assert ui_text_shown(see(shell), "Add task & more", TASKS_APP)


@pytest.mark.parametrize(
    ("text", "package", "resource_id"),
    [
        ("Buy", TASKS_APP, ""),
        ("buy milk", TASKS_APP, ""),
        ("Buy milk ", TASKS_APP, ""),
        ("Buy milk", "com.android.settings", ""),
        ("Buy milk", TASKS_APP, "title"),
        ("Buy milk", TASKS_APP, "name"),
    ],
)
def test_near_misses_of_shown_text_are_unmet(
    shell: TableShell, text: str, package: str, resource_id: str
) -> None:
    shell.show(f'text="Buy milk" resource-id="{TASKS_APP}:id/task_name" package="{TASKS_APP}"')
    assert not ui_text_shown(see(shell), text, package, resource_id)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "ERROR: could not get idle state.\n",
        "<hierarchy><node></hierarchy>",
        '<!DOCTYPE x [<!ENTITY a "b">]><hierarchy><node text="&a;"/></hierarchy>',
        137,
    ],
)
def test_unreadable_hierarchy_is_undecided(shell: TableShell, output: str | int) -> None:
    shell.answers[DUMP] = output
    with pytest.raises(EvaluationError):
        ui_text_shown(see(shell), "x", "y")


# --- tasks ---


def test_task_is_listed_while_open_and_completed_when_ticked(shell: TableShell) -> None:
    shell.put(TASKS, "title", {4: "Milk, eggs, title=Bread", 7: "Call Ann"})
    shell.put(TASKS, "completed", {4: "0", 7: "1"})
    assert task_listed(see(shell), "Milk, eggs, title=Bread")
    assert not task_completed(see(shell), "Milk, eggs, title=Bread")
    assert task_completed(see(shell), "Call Ann")
    assert not task_listed(see(shell), "Call Ann")


@pytest.mark.parametrize("title", ["Milk", "milk, eggs", "Milk, eggs!", "Milk,  eggs", "eggs"])
def test_near_misses_of_a_title_are_neither_listed_nor_completed(
    shell: TableShell, title: str
) -> None:
    for done in ("0", "1"):
        shell.put(TASKS, "title", {4: "Milk, eggs"})
        shell.put(TASKS, "completed", {4: done})
        assert not task_listed(see(shell), title)
        assert not task_completed(see(shell), title)


def test_deleted_task_is_not_completed_and_an_empty_list_has_none(shell: TableShell) -> None:
    shell.put(TASKS, "title", {})
    shell.put(TASKS, "completed", {})
    assert not task_completed(see(shell), "Call Ann")
    assert not task_listed(see(shell), "Call Ann")
    assert not task_listed(see(shell), "")


def test_task_is_not_completed_while_a_namesake_is_open(shell: TableShell) -> None:
    shell.put(TASKS, "title", {1: "Call", 2: "Call"})
    shell.put(TASKS, "completed", {1: "1", 2: "0"})
    assert not task_completed(see(shell), "Call")
    assert task_listed(see(shell), "Call")


def test_failing_provider_leaves_tasks_undecided(shell: TableShell) -> None:
    for output in (1, "Error while accessing provider:tasks\njava.lang.SecurityException\n"):
        shell.answers[f"content query --uri {TASKS} --projection _id:title"] = output
        with pytest.raises(EvaluationError):
            task_listed(see(shell), "x")


# --- contacts ---


@pytest.fixture
def people(shell: TableShell) -> TableShell:
    shell.put(CONTACTS, "display_name", {1: "Ines Carvalho", 2: "Bo, Jr."})
    shell.put(PHONES, "contact_id", {10: "1", 11: "2", 12: "2"})
    shell.put(PHONES, "data1", {10: "+41 44 555 01 73", 11: "555-0199", 12: "(044) 555"})
    shell.put(EMAILS, "contact_id", {13: "1"})
    shell.put(EMAILS, "data1", {13: "Ines@Example.org"})
    return shell


@pytest.mark.parametrize(
    ("name", "number", "email"),
    [
        ("Ines Carvalho", "", ""),
        ("Ines Carvalho", "+41445550173", ""),
        ("Ines Carvalho", "+41 44 555-01-73", "ines@example.org"),
        ("Bo, Jr.", "5550199", ""),
        ("Bo, Jr.", "044/555", ""),
    ],
)
def test_contact_is_found_by_name_number_and_email(
    people: TableShell, name: str, number: str, email: str
) -> None:
    assert contact_exists(see(people), name, number, email)


@pytest.mark.parametrize(
    ("name", "number", "email"),
    [
        ("Ines", "", ""),
        ("ines carvalho", "", ""),
        ("Ines Carvalho", "41445550173", ""),
        ("Ines Carvalho", "5550199", ""),
        ("Ines Carvalho", "+4144555017", ""),
        ("Bo, Jr.", "", "ines@example.org"),
        ("Ines Carvalho", "+41445550173", "nes@example.org"),
    ],
)
def test_partial_and_foreign_numbers_are_unmet(
    people: TableShell, name: str, number: str, email: str
) -> None:
    assert not contact_exists(see(people), name, number, email)


# --- settings ---


def test_setting_must_be_equal_and_set(shell: TableShell) -> None:
    shell.answers["settings get global device_name"] = "Lab phone\n"
    shell.answers["settings get global unset"] = "null\n"
    assert setting_equals(see(shell), "global", "device_name", "Lab phone")
    assert not setting_equals(see(shell), "global", "device_name", "Lab")
    assert not setting_equals(see(shell), "global", "unset", "null")


# --- the view ---


def test_each_query_runs_once_per_view(shell: TableShell) -> None:
    shell.put(TASKS, "title", {1: "a"})
    shell.put(TASKS, "completed", {1: "0"})
    shell.show('text="x" package="y"')
    view = see(shell)
    for _ in range(3):
        task_listed(view, "a")
        task_completed(view, "a")
        ui_text_shown(view, "x", "y")
    assert len(shell.asked) == len(set(shell.asked)) == 4


def test_arguments_are_quoted(shell: TableShell) -> None:
    with pytest.raises(EvaluationError):
        see(shell).setting("global", "x; rm -rf /")
    assert shell.asked == ["settings get global 'x; rm -rf /'"]


def test_expired_view_reads_nothing_more(shell: TableShell) -> None:
    clock = FakeClock()
    view = PhoneView(shell, timeout_s=5, clock=clock)
    clock.advance(5)
    with pytest.raises(EvaluationError, match="The time limit expired"):
        view.front_activity()
    assert shell.asked == []


def read_titles(output: str, *ids: int) -> dict[int, str]:
    """Read the titles that a provider prints; no row can be queried separately."""

    def query(*args: str) -> str:
        if args[-1] == "_id":
            return "".join(f"Row: {number} _id={row}\n" for number, row in enumerate(ids))
        return output if args[-1] == "_id:title" else "usage: content [subcommand]\n"

    return read_column(query, TASKS, "title")


@pytest.mark.parametrize(
    "output",
    [
        "Row: 1 _id=1, title=a\n",
        "Row: 0 _id=1, title=a\nRow: 0 _id=2, title=b\n",
        "Row: 0 _id=1, title=a\nRow: 1 _id=1, title=b\n",
        "Row: 0 _id=1, other=a\n",
        "Row: 0 title=a\n",
        "usage: adb shell content [subcommand] [options]\n",
    ],
)
def test_rows_out_of_order_are_rejected(output: str) -> None:
    with pytest.raises(EvaluationError):
        read_titles(output, 1)


def test_values_may_be_empty_null_or_multiline() -> None:
    output = "Row: 0 _id=3, title=\nRow: 1 _id=5, title=NULL\nRow: 2 _id=6, title=two\nlines, = \n"
    assert read_titles(output, 3, 5, 6) == {3: "", 5: "", 6: "two\nlines, = "}
