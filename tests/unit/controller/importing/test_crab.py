"""Import of CRAB's composed tasks; the files are our own, in the published format."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from controller.importing.crab.table import crab_subtasks
from controller.importing.importer import import_tasks
from controller.importing.report import Status
from evaluators.catalogue import builtin_evaluators
from evaluators.model.node import Mode
from tests.standins.foreign_tasks import (
    BRIGHTER,
    CALL,
    COMBINE,
    COPY,
    CRAB_HOME,
    DOWNLOAD,
    LOOK_UP,
    MAPS,
    MESSAGE,
    PRINT,
    SUBMIT,
    VIM,
    crab,
    import_one,
)

if TYPE_CHECKING:
    from pathlib import Path

_VIM = (VIM, {"file_path": f"{CRAB_HOME}/Desktop/a.txt", "content": "Blue hills"})
_CALL = (CALL, {"number": "044 555 01 99"})
_SUBMIT = (SUBMIT, {"content": "a (b)"})


def test_a_chain_of_subtasks_becomes_one_graph_whose_nodes_latch(tmp_path: Path) -> None:
    result, suite = import_one(tmp_path, crab(_VIM, _CALL, _SUBMIT))
    assert result.status is Status.WHOLE
    assert suite is not None
    (task,) = suite.tasks
    assert task.instruction == "Do the task called one in /home/user/Desktop."
    assert task.kinds == {"desktop": "desktop", "phone": "phone"}
    assert {node.mode for node in task.graph} == {Mode.ONCE}
    after = {node.id: node.after for node in task.graph}
    assert after == {
        "s1-terminal": (),
        "s1-vim-open": ("s1-terminal",),
        "s1-vim-closed": ("s1-vim-open",),
        "s1-written": ("s1-vim-closed",),
        "s2-opened": ("s1-written",),
        "s2-dialled": ("s2-opened",),
        "s2-called": ("s2-dialled",),
        "s3-submitted": ("s2-called",),
    }
    assert [part.nodes[-1] for part in task.parts] == ["s1-written", "s2-called", "s3-submitted"]
    written = task.graph[3]
    assert written.args == {"path": "~/Desktop/a.txt", "text": "Blue hills"}
    assert task.graph[-1].args == {"pattern": r"(?s).*a\ \(b\).*"}


def test_the_adjacency_list_orders_subtasks_in_any_order_of_lines(tmp_path: Path) -> None:
    given = crab(_CALL, _SUBMIT, _VIM, adjlist="0 1\n\n2 0 1\n1")
    _, suite = import_one(tmp_path, given)
    assert suite is not None
    after = {node.id: set(node.after) for node in suite.tasks[0].graph}
    assert after["s3-terminal"] == set()
    assert after["s1-opened"] == {"s3-written"}
    assert after["s2-submitted"] == {"s1-called", "s3-written"}


def test_subtasks_without_order_are_independent(tmp_path: Path) -> None:
    _, suite = import_one(tmp_path, crab(_VIM, _CALL, adjlist="0\n1"))
    assert suite is not None
    assert [node.id for node in suite.tasks[0].graph if not node.after] == [
        "s1-terminal",
        "s2-opened",
    ]


def test_keystrokes_of_the_agent_are_missing_and_named(tmp_path: Path) -> None:
    message = (MESSAGE, {"content": "On my way", "number": "0445550199"})
    result, suite = import_one(tmp_path, crab(message))
    assert result.status is Status.PART
    assert [why.kind for why in result.reasons] == ["action"]
    assert "check_contain_input_text" in result.reasons[0].text
    assert suite is not None
    assert [node.id for node in suite.tasks[0].graph] == [
        "s1-opened",
        "s1-conversation",
        "s1-sent",
    ]


def test_a_subtask_whose_only_result_is_keystrokes_is_refused_at_the_end_only(
    tmp_path: Path,
) -> None:
    shown = (PRINT, {"file_path": "~/Desktop/number.txt"}, "0445550199")
    (tmp_path / "last").mkdir()
    result, _ = import_one(tmp_path / "last", crab(shown))
    assert (result.status, result.reasons[0].kind) == (Status.REFUSED, "action")
    (tmp_path / "first").mkdir()
    result, suite = import_one(tmp_path / "first", crab(shown, _CALL))
    assert result.status is Status.PART
    assert suite is not None
    put = suite.tasks[0].setup[0].model_dump(by_alias=True)
    assert put["do"] == "put_file"
    assert put["with"] == {"path": "~/Desktop/number.txt", "content": "0445550199"}


def test_what_needs_the_live_internet_is_refused(tmp_path: Path) -> None:
    result, suite = import_one(tmp_path, crab((MAPS, {"number": "8000", "country": "Erewhon"})))
    assert (result.status, result.reasons[0].kind) == (Status.REFUSED, "network")
    assert suite is None


def test_the_output_fills_the_phone(tmp_path: Path) -> None:
    named = (LOOK_UP, {"name": "Ines Carvalho"})
    result, _ = import_one(tmp_path, crab(named))
    assert (result.status, result.reasons[0].kind) == (Status.REFUSED, "state")
    result, suite = import_one(tmp_path, crab((*named, "ines@example.org")))
    assert result.status is Status.WHOLE
    assert suite is not None
    (step,) = suite.tasks[0].setup
    assert step.model_dump(by_alias=True)["with"] == {
        "name": "Ines Carvalho",
        "email": "ines@example.org",
    }


def test_files_come_from_the_users_folder(tmp_path: Path) -> None:
    edit = (
        BRIGHTER,
        {
            "image_path_before_edit": f"{CRAB_HOME}/assets/lake.png",
            "image_path_after_edit": f"{CRAB_HOME}/assets/bright.png",
        },
    )
    join = (
        COMBINE,
        {
            "image_path_1": f"{CRAB_HOME}/assets/bright.png",
            "image_path_2": f"{CRAB_HOME}/assets/lake.png",
            "output_path": f"{CRAB_HOME}/Desktop/both.png",
        },
    )
    result, _ = import_one(tmp_path, crab(edit, join))
    assert [why.kind for why in result.reasons] == ["file", "file"]
    result, suite = import_one(tmp_path, crab(edit, join), {"assets/lake.png": b"lake"})
    assert result.status is Status.WHOLE
    assert suite is not None
    task = suite.tasks[0]
    by_id = {node.id: node.args for node in task.graph}
    original = by_id["s1-brighter"]["original"]
    assert str(original).startswith("/srv/one/")
    assert by_id["s2-combined"] == {
        "path": "~/Desktop/both.png",
        "first": "~/assets/bright.png",
        "second": original,
        "direction": "horizontal",
    }
    copies = [step.model_dump(by_alias=True)["with"] for step in task.setup]
    assert {"source": "files/one/lake.png", "path": "~/assets/lake.png"} in copies
    assert {
        "source": "files/one/lake.png",
        "path": original,
        "owner": "root",
        "mode": "0600",
    } in copies


def test_the_output_of_a_picture_is_no_text_for_its_original(tmp_path: Path) -> None:
    after = f"{CRAB_HOME}/assets/bright.png"
    before = f"{CRAB_HOME}/assets/lake.png"
    edit = (BRIGHTER, {"image_path_before_edit": before, "image_path_after_edit": after}, after)
    result, suite = import_one(tmp_path, crab(edit))
    assert (result.status, {why.kind for why in result.reasons}) == (Status.REFUSED, {"file"})
    assert suite is None


def test_a_download_is_compared_with_the_users_copy(tmp_path: Path) -> None:
    url = "https://data.test/pictures/fiji%20beach.png?size=1"
    get = (DOWNLOAD, {"url": url, "file_path": f"{CRAB_HOME}/Downloads/fiji.png"})
    result, suite = import_one(tmp_path, crab(get), {"data.test/pictures/fiji beach.png": b"sand"})
    assert result.status is Status.WHOLE
    assert suite is not None
    task = suite.tasks[0]
    assert task.egress == {"desktop": ("data.test:443",)}
    assert task.graph[0].args["sha256"] == hashlib.sha256(b"sand").hexdigest()


def test_names_of_copied_files_are_those_of_the_users_folder(tmp_path: Path) -> None:
    copy = (
        COPY,
        {
            "file_extension": "txt",
            "source_dir": f"{CRAB_HOME}/assets",
            "target_dir": f"{CRAB_HOME}/texts",
        },
    )
    files = {"assets/b.txt": b"b", "assets/a.txt": b"a", "assets/c.png": b"c"}
    _, suite = import_one(tmp_path, crab(copy), files)
    assert suite is not None
    assert suite.tasks[0].graph[-1].args == {"path": "~/texts", "names": ["a.txt", "b.txt"]}


_WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "unknown subtask": (
        crab(("0f589bf9-9b26-4581-8b78-2961b115ab48", _VIM[1])),
        "there is no subtask '0f589bf9-9b26-4581-8b78-2961b115ab48'",
        f"Did you mean '{VIM}'",
    ),
    "missing attribute": (
        crab((VIM, {"file_path": f"{CRAB_HOME}/a"})),
        "the attribute 'content' of the subtask 'Write a text with vim' is missing",
        "Its attributes are: file_path, content",
    ),
    "unknown attribute": (
        crab((CALL, {"number": "1", "numbr": "2"})),
        "the subtask 'Call a number' has no attribute 'numbr'",
        "Its attributes are: number",
    ),
    "cycle": (crab(_VIM, _CALL, adjlist="0 1\n1 0"), "wait for each other", "Write one line"),
    "self": (crab(_VIM, adjlist="0 0"), "names a subtask twice", "Write one line"),
    "no such number": (crab(_VIM, adjlist="0 1"), "there is no subtask 1", "Write one line"),
    "no number": (crab(_VIM, adjlist="zero"), "'zero' is not the number", "Write one line"),
    "two lines": (crab(_VIM, _CALL, adjlist="0 1\n0"), "has two lines", "Write one line"),
    "lost": (crab(_VIM, _CALL, adjlist="0"), "the subtask 1 is missing", "Write one line"),
    "unknown key": (crab(_VIM, adjlst="0"), "no key 'adjlst'", "Did you mean 'adjlist'"),
    "no subtasks": (crab(adjlist="0"), "tasks", ""),
}


@pytest.mark.parametrize("case", _WRONG)
def test_a_bad_file_is_named_with_place_and_cure(case: str, tmp_path: Path) -> None:
    content, problem, cure = _WRONG[case]
    path = tmp_path / "task.json"
    path.write_text(json.dumps(content, indent=2))
    (result,) = import_tasks(path).results
    assert result.status is Status.BAD
    text = result.reasons[0].text
    assert f"{path}:" in text
    line = int(text.split(f"{path}:")[1].split(":")[0])
    assert 1 <= line <= len(path.read_text().splitlines())
    assert problem in text
    assert cure in text


def test_lines_of_mistakes_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    path.write_text(json.dumps(crab(_VIM, (CALL, {})), indent=2))
    (result,) = import_tasks(path).results
    wanted = 1 + next(
        number
        for number, line in enumerate(path.read_text().splitlines())
        if '"attribute": {}' in line
    )
    assert f"{path}:{wanted}: the attribute 'number'" in result.reasons[0].text


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('{"tasks": [],\n "adjlist" "0"}', 2, "this is not valid JSON"),
        ('{"id": "a",\n "tasks": [],\n "id": "b"}', 3, "the key 'id' is duplicated"),
        ('{"steps": []}', 1, "neither a task of CRAB nor one of OSWorld"),
        ("[]", 1, "neither a task of CRAB nor one of OSWorld"),
    ],
)
def test_files_that_are_no_tasks(text: str, line: int, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    path.write_text(text)
    (result,) = import_tasks(path).results
    assert result.status is Status.BAD
    assert f"{path}:{line}: " in result.reasons[0].text
    assert problem in result.reasons[0].text


def test_the_table_names_our_evaluators() -> None:
    known = builtin_evaluators()
    table = crab_subtasks()
    assert len(table) == 35
    for subtask in table.values():
        for node in subtask.nodes:
            assert not node.check or node.check in known[subtask.on], (subtask.title, node.check)
        assert any(node.result for node in subtask.nodes) == (subtask.why is None), subtask.title
