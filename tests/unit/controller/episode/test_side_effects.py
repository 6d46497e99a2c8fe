from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from controller.actions.space import Action
from controller.agents.noop import NoopAgent
from controller.episode.baselines import Baselines
from controller.episode.changes import MAX_LISTED, Change
from controller.episode.side_effects import side_effects
from controller.specification.agent import MEMBER
from controller.specification.episode import TeamMember
from controller.wiring import open_suite
from evaluators.graph.outcome import Verdict
from evaluators.model.task import MayChange
from foundation.errors import LinkTimeoutError
from provisioning.fake.phone import FakePhone
from provisioning.protocols import StateKind
from provisioning.resource import DESKTOP
from tests.unit.controller.bench import Bench, Scripted, make_task

if TYPE_CHECKING:
    from pathlib import Path

    from controller.episode.result import TrialResult
    from evaluators.model.task import Task

OPEN = Action("open_app", "desktop", {"name": "Terminal"})
DARK = "gsettings set org.gnome.desktop.interface color-scheme prefer-dark"
FONT = "gsettings set org.gnome.desktop.interface font-name Sans"


def line(text: str) -> Action:
    return Action("type_text", "desktop", {"text": f"{text}\n"})


def names(result: TrialResult) -> list[tuple[str, str]]:
    assert result.side_effects is not None
    assert result.side_effects.count == len(result.side_effects.changes)
    return [(change.name, change.change) for change in result.side_effects.changes]


def may(**changes: list[str]) -> Task:
    return make_task(may_change={"desktop": changes})


def test_changes_outside_the_goal_are_listed(bench: Bench) -> None:
    setup = [{"on": "desktop", "do": "put_file", "with": {"path": "~/old", "content": "x"}}]
    task = make_task(setup=setup)
    agent = Scripted(OPEN, line("touch made"), line("rm old"), line(FONT), line(DARK))
    result = bench.run(task, agent)
    assert result.verdict is Verdict.PASS
    assert names(result) == [
        ("~/made", "added"),
        ("~/old", "removed"),
        ("/org/gnome/desktop/interface/font-name", "added"),
    ]
    assert result.side_effects is not None
    assert not result.side_effects.has_baseline


def test_files_left_by_opening_programs_are_no_side_effects() -> None:
    # As listed by a trial of desktop-editor on Ubuntu 22.04 and on Debian 12.
    left = [
        (StateKind.FILE, "~/.config/enchant/en_US.dic"),
        (StateKind.FILE, "~/.config/GNOME-Flashback-xdg-terminals.list"),
        (StateKind.FILE, "~/.local/share/recently-used.xbel"),
        (StateKind.SETTING, "/org/gnome/gedit/plugins/filebrowser/tree-view"),
        (StateKind.PROCESS, "bash bash"),
        (StateKind.PROCESS, "gedit gedit"),
        (StateKind.PROCESS, "gnome-terminal- /usr/libexec/gnome-terminal-server"),
    ]
    real = [
        (StateKind.FILE, "~/.config/autostart/x.desktop"),
        (StateKind.FILE, "~/.bashrc"),
        (StateKind.SETTING, "/org/gnome/gedit/preferences/editor/tabs-size"),
        (StateKind.PROCESS, "python3 /usr/bin/python3.10"),
    ]
    changes = [Change("desktop", kind, name, "added") for kind, name in left + real]
    effects = side_effects(changes, make_task(), None)
    assert [(change.kind, change.name) for change in effects.changes] == real


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "left"),
    [
        (may(processes=["gnome-terminal*"]), ["~/notes/a", "/org/gnome/desktop/interface/font-name"]),
        (
            may(files=["~/notes"], processes=["gnome-terminal-server"]),
            ["/org/gnome/desktop/interface/font-name"],
        ),
        (
            may(files=["/home/user/notes/*"], settings=["org.gnome.desktop.interface"]),
            [],
        ),
        (
            may(settings=["/org/gnome/desktop/*/font-name"], processes=["*"]),
            ["~/notes/a"],
        ),
    ],
)  # fmt: skip
def test_task_declares_allowed_changes(bench: Bench, task: Task, left: list[str]) -> None:
    result = bench.run(task, Scripted(OPEN, line("touch notes/a"), line(FONT), line(DARK)))
    assert [name for name, _ in names(result)] == left


def test_role_with_allowed_changes_must_belong_to_the_task() -> None:
    with pytest.raises(ValidationError, match="`may_change` names the unknown role 'phone'"):
        make_task(may_change={"phone": {}})


def test_tasks_without_declared_changes_keep_their_digest() -> None:
    assert "may_change" not in make_task().model_dump(mode="json")


def test_changes_of_a_noop_trial_are_no_side_effects(bench: Bench, tmp_path: Path) -> None:
    bench.baselines = Baselines(tmp_path / "baselines")
    machine = bench.fakes
    ticks = iter(range(100))

    def tick() -> None:
        machine.machines[DESKTOP, 0].put("/home/user/.tick", str(next(ticks)).encode())

    before = bench.run(make_task(), Scripted(OPEN, line("touch made"), tick))
    assert names(before) == [("~/.tick", "added"), ("~/made", "added")]

    bench.members = {MEMBER: TeamMember("noop")}
    bench.run(make_task(), Scripted(tick))
    bench.members = {MEMBER: TeamMember("test")}
    after = bench.run(make_task(), Scripted(OPEN, line("touch made"), tick))
    assert names(after) == [("~/made", "added")]
    assert after.side_effects is not None
    assert after.side_effects.has_baseline
    other = bench.run(make_task(instruction="Something else."), Scripted(tick))
    assert other.side_effects is not None
    assert not other.side_effects.has_baseline


def test_damaged_baseline_is_ignored(tmp_path: Path) -> None:
    baselines = Baselines(tmp_path)
    baselines.keep(make_task(), {}, [])
    assert baselines.find(make_task(), {}) == frozenset()
    (path,) = tmp_path.iterdir()
    text = path.read_text()
    for damaged in ("{", "[]", text.replace('"schema_version":1', '"schema_version":2')):
        path.write_text(damaged)
        assert baselines.find(make_task(), {}) is None


def test_unresponsive_machine_leaves_side_effects_unknown(bench: Bench) -> None:
    def silence() -> None:
        desktop = bench.fakes.machines[DESKTOP, 0]
        desktop.faults.add("summarize", LinkTimeoutError("no reply"))

    result = bench.run(make_task(), Scripted(OPEN, silence))
    assert (result.verdict, result.side_effects) == (Verdict.FAIL, None)
    assert bench.run(make_task(), NoopAgent).side_effects is None


def test_first_side_effects_are_listed_and_all_counted() -> None:
    changes = [
        Change("desktop", StateKind.FILE, f"~/{number:04}", "added") for number in range(500)
    ]
    effects = side_effects(changes, make_task(), None)
    assert (effects.count, len(effects.changes)) == (500, MAX_LISTED)


TASKS = "com.google.android.apps.tasks/tasks"
DATA = "com.android.contacts/data"


def row(name: str, change: str) -> Change:
    return Change("phone", StateKind.RECORD, name, change)


TICKED = [
    row(f"{TASKS} _id=3, title=Book the dentist, notes=, completed=0, due=", "removed"),
    row(f"{TASKS} _id=3, title=Book the dentist, notes=, completed=1, due=", "added"),
]
SAVED = [
    row("com.android.contacts/contacts _id=2, display_name=Ravi Menon, starred=0", "added"),
    row(f"{DATA} _id=5, raw_contact_id=2, mimetype=vnd/name, data1=Ravi Menon", "added"),
    row(f"{DATA} _id=6, raw_contact_id=2, mimetype=vnd/phone_v2, data1=02079460321", "added"),
    row(f"{DATA} _id=7, raw_contact_id=2, data1=Ravi.Menon@example.org", "added"),
    row(f"{TASKS} _id=1, title={(todo := 'Save Ravi Menon, 020 7946 0321, ravi.menon@example.org')}, completed=0", "removed"),
    row(f"{TASKS} _id=1, title={todo}, completed=1", "added"),
]  # fmt: skip
BESIDE = [
    row(f"{TASKS} _id=4, title=Book the dentist for Olaf, completed=0", "removed"),
    row(f"{DATA} _id=9, raw_contact_id=1, data1=020 7946 0123", "removed"),
    row("sms _id=1, body=Book the dentist", "added"),
]


@pytest.mark.parametrize(
    ("name", "goal"), [("phone-tick-off", TICKED), ("phone-new-contact", SAVED)]
)
def test_rows_requested_by_a_task_are_no_side_effects(name: str, goal: list[Change]) -> None:
    task = open_suite("smoke", [name]).task(name)
    assert side_effects(goal, task, None).changes == ()
    assert side_effects([*goal, *BESIDE], task, None).changes == tuple(BESIDE)
    stated = task.model_copy(
        update={"may_change": {"phone": MayChange(records=("sms", f"{TASKS} *Olaf*"))}}
    )
    assert side_effects([*goal, *BESIDE], stated, None).changes == (BESIDE[1],)


@pytest.mark.parametrize(
    ("check", "args", "left"),
    [
        ("content_row_exists", {"uri": "content://sms", "where": {"body": "Hi", "type": "2"}}, [1, 2]),
        ("content_row_exists", {"uri": "content://sms", "where": {"type": "2"}}, [2]),
        ("content_row_exists", {"uri": "content://calls", "where": {"type": "2"}}, [0, 1, 2]),
        ("message_sent", {"number": "555", "text": "Hello"}, [0, 2]),
        ("setting_equals", {"namespace": "system", "key": "volume", "value": "2"}, [0, 1]),
    ],
)  # fmt: skip
def test_check_covers_the_rows_and_settings_that_it_names(
    check: str, args: dict[str, object], left: list[int]
) -> None:
    node = {"id": "done", "on": "phone", "check": check, "with": args}
    task = make_task(roles={"phone": "phone"}, graph=[node])
    changes = [
        row("sms _id=1, body=Hi, type=2", "added"),
        row("sms _id=2, body=Hello, type=2", "added"),
        Change("phone", StateKind.SETTING, "system/volume", "changed"),
    ]
    assert side_effects(changes, task, None).changes == tuple(changes[at] for at in left)


def test_in_memory_phone_summarises_its_rows_and_settings() -> None:
    phone = FakePhone()
    phone.start()
    phone.state.insert(f"content://{TASKS}", ["--bind", "title:s:Milk"])
    phone.state.settings["system", "volume"] = "2"
    summary = phone.summarize()
    assert summary[StateKind.RECORD] == {f"{TASKS} _id=1, title=Milk": ""}
    assert summary[StateKind.SETTING] == {"system/volume": "2"}


def test_only_the_bookkeeping_of_libreoffice_is_a_trace() -> None:
    profile = "~/.config/libreoffice/4/user"
    changed = [
        Change("desktop", StateKind.FILE, f"{profile}/{name}", "changed")
        for name in (
            "extensions/bundled/lastsynchronized",
            "extensions/shared/lastsynchronized",
            "pack/database/biblio/biblio.pack",
            "pack/registrymodifications.pack",
            "registrymodifications.xcu",
            "extensions/bundled/new.oxt",
        )
    ]
    left = side_effects(changed, make_task(), None)
    assert [change.name.removeprefix(f"{profile}/") for change in left.changes] == [
        "registrymodifications.xcu",
        "extensions/bundled/new.oxt",
    ]
