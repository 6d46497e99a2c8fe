"""Whole trials with worlds leave nothing for the next, and never see each other's world."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from appliance.cli.main import main
from controller.store.runs import Store
from foundation.settings import REPOSITORY, Settings, get_settings
from provisioning.world.persona.model.mail import Folder
from provisioning.world.persona.persona import persona
from tests.integration.test_world import fleet
from tests.standins.world_guest import HELD_S

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from provisioning.fleet.local import LocalFleet

__all__ = ["fleet"]

pytestmark = [pytest.mark.docker, pytest.mark.phone, pytest.mark.adb, pytest.mark.timeout(900)]

SEED = 7
DONE = {"expected": "done"}


ACTION = '''
from pathlib import Path
from uuid import uuid4

from mesocosm import Machine, action

SOURCE = {source!r}
FOUND = Path({found!r})


@action(on="phone")
def run_guest(machine: Machine, work: str, email: str, password: str) -> None:
    """Run the guest's program on the phone, and keep what it found.

    Args:
        machine: the phone.
        work: what to do.
        email: address of the account.
        password: its password.
    """
    argv = ["python3", "-c", SOURCE, work, email, password]
    found = machine.run(argv, timeout_s=400).require().text
    (FOUND / f"{{work}}-{{uuid4().hex}}.json").write_text(found)
'''


@pytest.fixture
def settings(fleet: LocalFleet, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Use the fleet's state folder in this process."""
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(fleet._settings.state_dir))
    get_settings.cache_clear()
    yield get_settings()
    monkeypatch.undo()
    get_settings.cache_clear()


def write_suite(folder: Path, works: tuple[str, ...]) -> Path:
    """Write a suite whose tasks' solutions run the guest's program."""
    person = persona(SEED).person
    source = (REPOSITORY / "tests/standins/world_guest.py").read_text()
    (folder / "actions").mkdir()
    (folder / "actions/guest.py").write_text(ACTION.format(source=source, found=str(folder)))
    names = []
    for number, work in enumerate(works):
        name = f"t{number}-{work}"
        args = {"work": work, "email": person.email, "password": person.password}
        keeps = ("keeps_mails", "keeps_contacts", "keeps_orders") if work == "look" else ()
        task: dict[str, Any] = {
            "schema_version": 2,
            "id": name,
            "instruction": "Look at your world.",
            "roles": {
                "phone": "phone",
                "world": {"kind": "world", "parameters": {"seed": SEED}},
            },
            "graph": [
                {"id": "done", "on": "session", "check": "answer_equals", "with": DONE},
                *(
                    {"id": check.replace("_", "-"), "on": "world", "check": check, "mode": "keep"}
                    for check in keeps
                ),
            ],
            "limits": {"steps": 5, "seconds": 600},
            "oracle": [
                {"on": "phone", "do": "run_guest", "with": args},
                {"do": "submit", "with": {"answer": DONE["expected"]}},
                {"do": "complete"},
            ],
        }
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(task))
        names.append(f"{name}.yaml")
    suite = {
        "schema_version": 2,
        "name": "isolated",
        "version": "1",
        "description": "Worlds of trials.",
        "tasks": names,
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite))
    return folder


def play(
    suite: Path, settings: Settings, capsys: pytest.CaptureFixture[str], *options: str
) -> dict[str, list[dict[str, Any]]]:
    """Run all tasks; return the events of each trial by name."""
    capsys.readouterr()
    code = main(["run", str(suite), "--agent", "oracle", "--json", *options])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    report = json.loads(shown.out)
    assert {trial["verdict"] for trial in report["trials"]} == {"PASS"}, report["trials"]
    folder = Store(settings.runs_dir).open(report["run"]).path
    return {
        path.parts[-3]: [json.loads(line) for line in path.read_text().splitlines()]
        for path in sorted(folder.glob("trials/*/attempt-1/events.jsonl"))
    }


def read_found(suite: Path, work: str) -> list[dict[str, Any]]:
    """Return what the guest's program found in each trial."""
    return [json.loads(path.read_text()) for path in sorted(suite.glob(f"{work}-*.json"))]


def world_of(events: list[dict[str, Any]]) -> str:
    """Return the id of a trial's world."""
    (lease,) = [event for event in events if event["type"] == "lease"]
    return next(str(row["machine_id"]) for row in lease["machines"] if row["role"] == "world")


def test_a_wrecked_world_is_whole_for_the_next_trial(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_suite(tmp_path, ("wreck", "look"))
    trials = play(suite, settings, capsys, "--repeats", "2")
    assert len(trials) == 4
    assert len({world_of(events) for events in trials.values()}) == 1
    wrecked, looked = read_found(suite, "wreck"), read_found(suite, "look")
    assert (len(wrecked), len(looked)) == (2, 2)
    for each in (*wrecked, *looked):
        assert each["before"] == looked[0]["before"]
        assert set(each["before"]["marks"].values()) == {0}
        assert each["before"]["mails"] == len(persona(SEED).mails.in_folder(Folder.INBOX))
    for each in wrecked:
        after = each["after"]
        assert (after["mails"], after["refused"], after["gone"]) == (0, "401", ["404", "404"])
        assert after["full"] in {"500", "507"}


def test_trials_at_once_never_see_each_others_world(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_suite(tmp_path, ("mark",))
    trials = play(suite, settings, capsys, "--repeats", "2", "--parallel", "2")
    one, two = trials.values()
    assert world_of(one) != world_of(two)
    begun = max(events[0]["t"] for events in (one, two))
    assert begun + HELD_S < min(events[-1]["t"] for events in (one, two))
    first, second = read_found(suite, "mark")
    assert first["before"] == second["before"]
    for found in (first, second):
        before, after = found["before"], found["after"]
        assert set(before["marks"].values()) == {0}
        marked = {name for name, count in after["marks"].items() if count}
        assert marked == {"mails", "issues", "files", "work", "book"}
        assert all(count == 1 for name, count in after["marks"].items() if name in marked)
        assert after["mails"] == before["mails"] + 2  # the mark, and the shop's confirmation
        assert after["orders"] == before["orders"] + 1
        assert after["favourites"] == before["favourites"] + 1
        assert after["digests"]["stars"] != before["digests"]["stars"]
