"""Import of OSWorld's tasks; the files are our own, in the published format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from controller.actions.vocabulary import setup_tools
from controller.importing.importer import import_tasks
from controller.importing.osworld.convert import CARRYING
from controller.importing.osworld.file import INFEASIBLE
from controller.importing.osworld.job import carried_functions
from controller.importing.osworld.table import mapping
from controller.importing.report import Status
from evaluators.catalogue import builtin_evaluators
from tests.standins.foreign_tasks import (
    CLOUD,
    cloud_file,
    command,
    import_one,
    osworld,
    rule,
    vm_file,
)

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.model.task import Task

_SAVE = {
    "type": "execute",
    "parameters": {"command": ["python", "-c", "import pyautogui; pyautogui.hotkey('ctrl', 's');"]},
}


def _download(name: str, path: str) -> dict[str, Any]:
    files = [{"url": f"{CLOUD}{name}", "path": path}]
    return {"type": "download", "parameters": {"files": files}}


def _steps(task: Task) -> list[dict[str, Any]]:
    return [step.model_dump(by_alias=True) for step in task.setup]


def _one(
    folder: Path, content: dict[str, Any], files: dict[str, bytes] | None = None
) -> tuple[Status, list[str], Task | None]:
    """Return status, kinds of the reasons, and the task."""
    result, suite = import_one(folder, content, files or {})
    kinds = [why.kind for why in result.reasons]
    return result.status, kinds, suite.tasks[0] if suite else None


def test_setup_and_function_are_ours(tmp_path: Path) -> None:
    content = osworld(
        "compare_docx_files",
        result=vm_file("/home/user/Desktop/letter.docx"),
        expected=cloud_file("writer/one/letter_gold.docx"),
        config=[
            _download("writer/one/letter.docx", "Desktop/letter.docx"),
            {"type": "sleep", "parameters": {"seconds": 2}},
            {"type": "open", "parameters": {"path": "/home/user/Desktop/letter.docx"}},
            {"type": "activate_window", "parameters": {"window_name": "letter.docx"}},
        ],
    )
    files = {"writer/one/letter.docx": b"now", "writer/one/letter_gold.docx": b"then"}
    result, suite = import_one(tmp_path, content, files)
    assert result.status is Status.WHOLE
    assert suite is not None
    task = suite.tasks[0]
    assert _steps(task) == [
        {
            "on": "desktop",
            "do": "copy_files",
            "with": {"source": "files/one/letter.docx", "path": "~/Desktop/letter.docx"},
        },
        {
            "on": "desktop",
            "do": "open_document",
            "with": {"path": "/home/user/Desktop/letter.docx"},
        },
    ]
    (node,) = task.graph
    assert (node.check, node.args) == (
        "document_same_as",
        {
            "path": "/home/user/Desktop/letter.docx",
            "reference": "files/one/letter_gold.docx",
            "aspects": ["text"],
        },
    )
    assert (tmp_path / "suite/files/one/letter_gold.docx").read_bytes() == b"then"


def test_without_the_users_files_a_download_is_the_reason(tmp_path: Path) -> None:
    content = osworld(
        "check_slide_orientation_Portrait",
        result=vm_file("/home/user/a.pptx"),
        config=[_download("impress/one/a.pptx", "/home/user/a.pptx")],
    )
    result, _ = import_one(tmp_path, content)
    assert (result.status, [why.kind for why in result.reasons]) == (Status.REFUSED, ["file"])
    result, _ = import_one(tmp_path, content, {"other.txt": b""})
    assert "put it at impress/one/a.pptx" in result.reasons[0].text


_FRONT = {
    "type": "activate_window",
    "parameters": {"window_name": "a.pptx - LibreOffice Impress", "strict": True},
}


def _press(program: str) -> dict[str, Any]:
    return {"type": "execute", "parameters": {"command": ["python", "-c", program]}}


def test_keys_are_pressed_for_the_agent_as_in_the_original(tmp_path: Path) -> None:
    program = (
        "import pyautogui; pyautogui.hotkey(['ctrl', 'q']);pyautogui.press(['right', 'enter'])"
    )
    content = osworld(
        "check_slide_orientation_Portrait",
        result=vm_file("/home/user/a.pptx"),
        postconfig=[_FRONT, {"type": "sleep", "parameters": {}}, _SAVE, _press(program)],
    )
    status, _, task = _one(tmp_path, content)
    assert status is Status.WHOLE
    assert task is not None
    assert "Save" not in task.instruction
    window = "a.pptx - LibreOffice Impress"
    rows = [(press.keys, press.window) for press in task.press_before_judging]
    assert rows == [
        (("ctrl", "s"), window),
        (("ctrl", "q"), ""),
        (("Right",), ""),
        (("Return",), ""),
    ]


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("pyautogui.hotkey('ctrl', 's'); pyautogui.press('hyper')", Status.PART),
        ("pyautogui.hotkey('ctrl', 's'); pyautogui.click(3, 4)", Status.PART),
        ("pyautogui.write('stty size')", Status.REFUSED),
        ("pyautogui.hotkey('ctrl', 'hyper')", Status.REFUSED),
    ],
)
def test_what_is_more_than_known_keys_is_left_to_the_agent(
    program: str, status: Status, tmp_path: Path
) -> None:
    content = osworld(
        "check_slide_orientation_Portrait",
        result=vm_file("/home/user/a.pptx"),
        postconfig=[_press(f"import pyautogui; {program}")],
    )
    imported, kinds, task = _one(tmp_path, content)
    assert (imported, kinds) == (status, ["save" if status is Status.PART else "gui"])
    if task is not None:
        assert task.press_before_judging == ()
        assert task.instruction.endswith("\n\nSave your changes before you finish.")


@pytest.mark.parametrize("is_told", [False, True])
def test_an_export_for_the_agent_needs_a_name_that_the_agent_knows(
    is_told: bool, tmp_path: Path
) -> None:
    steps = [
        "pyautogui.hotkey(['shift', 'ctrl', 'e'])",
        "pyautogui.write('lake');pyautogui.press(['enter'])",
    ]
    content = osworld(
        "check_image_size",
        result=vm_file("/home/user/Desktop/lake.png"),
        expected=rule(width=8, height=4),
        postconfig=[
            {"type": "execute", "parameters": {"command": ["python3", "-c", text]}}
            for text in steps
        ],
        instruction="Export it as lake.png." if is_told else "Make it smaller.",
    )
    status, kinds, _ = _one(tmp_path, content)
    assert (status, kinds) == (Status.PART if is_told else Status.REFUSED, ["save"])


def test_infeasible_tasks_are_declared(tmp_path: Path) -> None:
    status, _, task = _one(tmp_path, osworld(INFEASIBLE))
    assert status is Status.WHOLE
    assert task is not None
    assert [node.check for node in task.graph] == ["declared_infeasible"]
    assert task.infeasible
    assert "no-solution" not in task.tags


def test_all_functions_must_be_met_or_one_of_them(tmp_path: Path) -> None:
    path = "/home/user/notes.txt"
    parts: dict[str, Any] = {
        "result": [vm_file(path), command("[ -d ~/old ] && echo there || echo no")],
        "expected": [rule(expected=["a", "b"]), rule(expected="there\n")],
    }
    _, _, task = _one(tmp_path, osworld(["file_contains", "exact_match"], **parts))
    assert task is not None
    (node,) = task.graph
    assert [row.check for row in node.together] == [
        "file_text_contains",
        "file_text_contains",
        "directory_exists",
    ]
    _, _, task = _one(tmp_path, osworld(["file_contains", "exact_match"], conj="or", **parts))
    assert task is not None
    (node,) = task.graph
    assert [row.check for row in node.together] == ["file_text_contains"] * 2
    assert [row.check for row in node.alternatives] == ["directory_exists"]


def test_one_way_to_pass_may_be_missing_but_no_condition(tmp_path: Path) -> None:
    parts: dict[str, Any] = {
        "result": [vm_file("/home/user/a.txt"), {"type": "bookmarks"}],
        "expected": [rule(expected=["a"]), rule(type="names", names=["b"])],
    }
    functions = ["file_contains", "is_expected_bookmarks"]
    status, kinds, task = _one(tmp_path, osworld(functions, conj="or", **parts))
    assert (status, kinds) == (Status.PART, ["application"])
    assert task is not None
    assert not task.graph[0].alternatives
    status, kinds, task = _one(tmp_path, osworld(functions, **parts))
    assert (status, kinds) == (Status.REFUSED, ["application"])


_CHECKS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "setting": (
        osworld(
            "exact_match",
            result=command(["gsettings", "get", "org.a", "delay"]),
            expected=rule(expected="uint32 0\n"),
        ),
        "gsetting_equals",
        {"schema": "org.a", "key": "delay", "value": "0"},
    ),
    "setting that is a text": (
        osworld(
            "exact_match",
            result=command("gsettings get org.a style"),
            expected=rule(expected="'dark'\n"),
        ),
        "gsetting_equals",
        {"schema": "org.a", "key": "style", "value": "dark"},
    ),
    "folder": (
        osworld(
            "exact_match",
            result=command(["ls", "/home/user/x"]),
            expected=rule(expected="a b.txt\nc\n"),
        ),
        "directory_lists",
        {"path": "/home/user/x", "names": ["a b.txt", "c"]},
    ),
    "file": (
        osworld(
            "check_include_exclude",
            result=command("[ -f '/home/user/a b' ] && echo 'Yes.' || echo 'No.'"),
            expected=rule(include=["Yes"], exclude=["No"]),
        ),
        "file_exists",
        {"path": "/home/user/a b"},
    ),
    "file by ls": (
        osworld(
            "is_extension_installed",
            result=command(["ls", "/home/user/p/", "|", "grep", "a.py"]),
            expected=rule(type="contain", expected="a.py"),
        ),
        "file_exists",
        {"path": "/home/user/p/a.py"},
    ),
    "clipboard": (
        osworld(
            "is_in_vm_clickboard",
            result=rule(expected="/a/b"),
            expected=command("xsel --clipboard --output"),
        ),
        "clipboard_contains",
        {"text": "/a/b"},
    ),
    "moved": (
        osworld(
            "check_moved_jpgs",
            result={"type": "list_directory", "path": "/home/user/p"},
            expected=rule(expected=["a.jpg"]),
        ),
        "directory_lists",
        {"path": "/home/user/p", "names": ["a.jpg"]},
    ),
    "GIMP": (
        osworld(
            "check_config_status",
            result={"type": "gimp_config_file", "file_name": "gimprc", "dest": "gimprc"},
            expected=rule(key="theme", value='"Light"'),
        ),
        "file_has_line",
        {"path": "~/.config/GIMP/2.10/gimprc", "line": '(theme "Light")'},
    ),
    "VLC": (
        osworld(
            "check_qt_minimal_view",
            result={"type": "vlc_config", "dest": "vlcrc"},
            expected=rule(expected_qt_minimal_view=1),
        ),
        "file_has_line",
        {"path": "~/.config/vlc/vlcrc", "line": "qt-minimal-view=1"},
    ),
    "preference": (
        osworld(
            "check_thunderbird_prefs",
            result=vm_file("/home/user/prefs.js"),
            expected=rule(expect={"mail.quote": {"method": "eq", "ref": False}}),
        ),
        "file_has_line",
        {"path": "/home/user/prefs.js", "line": 'user_pref("mail.quote", false);'},
    ),
    "cell": (
        osworld(
            "compare_table",
            result=vm_file("/home/user/a.xlsx"),
            options={
                "rules": [
                    {
                        "type": "check_cell",
                        "sheet_idx": "RNSums",
                        "coordinate": "B2",
                        "props": {"value": {"method": "approx:0.01", "ref": 3.5}},
                    }
                ]
            },
        ),
        "cell_equals",
        {
            "path": "/home/user/a.xlsx",
            "cell": "B2",
            "value": 3.5,
            "tolerance": 0.01,
            "sheet": "Sums",
        },
    ),
    "JSON": (
        osworld(
            "check_json",
            result=vm_file("/home/user/a.json"),
            expected=rule(expect=[{"key": ["a", "b/c"], "method": "eq", "ref": [1]}]),
        ),
        "json_value_equals",
        {"path": "/home/user/a.json", "pointer": "/a/b~1c", "value": [1]},
    ),
    "database": (
        osworld(
            "run_sqlite3",
            result=vm_file("/home/user/a.db"),
            expected=rule(sql="SELECT COUNT(*) = 2 FROM item;"),
        ),
        "sqlite_query_equals",
        {"path": "/home/user/a.db", "query": "SELECT COUNT(*) = 2 FROM item", "rows": [[1]]},
    ),
    "time zone": (
        osworld("is_utc_0", result=command("timedatectl status")),
        "timezone_is",
        {"zone": "UTC"},
    ),
    "transition": (
        osworld(
            "check_transition",
            result=vm_file("/home/user/a.pptx"),
            expected=rule(slide_idx=1, transition_type="dissolve"),
        ),
        "slide_transition_is",
        {"path": "/home/user/a.pptx", "slide": 2, "transition": "dissolve"},
    ),
    "file size": (
        osworld(
            "check_image_file_size",
            result=vm_file("/home/user/a.jpg"),
            expected=rule(max_size=600000),
        ),
        "file_size_between",
        {"path": "/home/user/a.jpg", "least_bytes": 1, "most_bytes": 599999},
    ),
}


@pytest.mark.parametrize("case", _CHECKS)
def test_functions_become_checks(case: str, tmp_path: Path) -> None:
    content, name, args = _CHECKS[case]
    _, _, task = _one(tmp_path, content)
    assert task is not None
    (node,) = task.graph
    assert (node.check, node.args, node.conjuncts) == (name, args, ())


def test_the_goal_is_not_met_from_the_start(tmp_path: Path) -> None:
    content = osworld(
        "exact_match",
        result=command("gsettings get org.a shown"),
        expected=rule(expected="false\n"),
        config=[
            {"type": "execute", "parameters": {"command": ["gsettings", "set", "b", "c", "1"]}}
        ],
    )
    _, _, task = _one(tmp_path, content)
    assert task is not None
    first, second = _steps(task)
    assert first["do"] == "set_gsetting"
    assert first["with"] == {"schema": "org.a", "key": "shown", "value": "true"}
    assert second["with"] == {"command": "gsettings set b c 1"}
    _, _, task = _one(tmp_path, osworld("is_utc_0", result=command("timedatectl status")))
    assert task is not None
    assert _steps(task)[0]["with"]["user"] == "root"
    assert task.sudo


_REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "unknown function": (osworld("is_nice", result=vm_file("/home/user/a")), ["function"]),
    "unknown getter": (osworld("exact_match", result={"type": "mood"}), ["getter"]),
    "output": (
        osworld("exact_match", result=command("bash judge.sh"), expected=rule(expected="1\n")),
        ["output"],
    ),
    "application": (
        osworld(INFEASIBLE, related_apps=["os", "Chrome"]),
        ["application"],
    ),
    "network": (osworld(INFEASIBLE, proxy=True), ["network"]),
    "program of the network": (
        osworld(
            INFEASIBLE,
            config=[{"type": "command", "parameters": {"command": ["pip", "install", "x"]}}],
        ),
        ["network"],
    ),
    "program": (
        osworld(
            INFEASIBLE,
            config=[{"type": "execute", "parameters": {"command": "cd /tmp && unzip a.zip"}}],
        ),
        ["program"],
    ),
    "account": (
        osworld(INFEASIBLE, config=[{"type": "googledrive", "parameters": {}}]),
        ["account"],
    ),
    "unknown setup": (osworld(INFEASIBLE, config=[{"type": "dance"}]), ["setup"]),
    "two sheets of one workbook": (
        osworld(
            "compare_table",
            result=vm_file("/home/user/a.xlsx"),
            options={"rules": [{"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": 1}]},
        ),
        ["option"],
    ),
    "default of VLC": (
        osworld(
            "check_qt_bgcone",
            result={"type": "vlc_config", "dest": "vlcrc"},
            expected=rule(expected_qt_bgcone=1),
        ),
        ["option"],
    ),
    "arguments of another form": (
        osworld("check_transition", result=vm_file("/home/user/a.pptx"), expected=rule(slide=1)),
        ["option"],
    ),
    "transition that Impress does not have": (
        osworld(
            "check_transition",
            result=vm_file("/home/user/a.pptx"),
            expected=rule(slide_idx=0, transition_type="melt"),
        ),
        ["suite"],
    ),
}


@pytest.mark.parametrize("case", _REFUSED)
def test_what_ours_cannot_say_is_refused(case: str, tmp_path: Path) -> None:
    content, kinds = _REFUSED[case]
    status, found, task = _one(tmp_path, content)
    assert (status, found, task) == (Status.REFUSED, kinds, None)


def test_an_image_brings_applications(tmp_path: Path) -> None:
    content = osworld(
        "check_json_settings",
        result=vm_file("/home/user/.config/Code/User/settings.json"),
        expected=rule(expected={"editor.wordWrap": "on"}),
        related_apps=["vscode"],
        config=[{"type": "launch", "parameters": {"command": ["code", "/home/user/a"]}}],
    )
    source = tmp_path / "task.json"
    source.write_text(json.dumps(content))
    (result,) = import_tasks(source).results
    assert {why.kind for why in result.reasons} == {"application"}
    (result,) = import_tasks(source, tmp_path / "suite", image="editors").results
    assert result.status is Status.WHOLE
    text = (tmp_path / "suite/tasks/one.yaml").read_text()
    assert "image: editors" in text
    assert "desktop_id: code" in text


_STEPS: dict[str, tuple[dict[str, Any], list[dict[str, Any]], list[str]]] = {
    "program": (
        {"type": "launch", "parameters": {"command": ["libreoffice", "--calc", "/home/user/a.ods"]}},
        [{"do": "start_program", "with": {"desktop_id": "libreoffice-calc", "args": ["/home/user/a.ods"]}}],
        [],
    ),
    "shell": (
        {"type": "execute", "parameters": {"command": ["/bin/bash", "-c", "mkdir -p a && touch a/b"]}},
        [{"do": "run", "with": {"command": "mkdir -p a && touch a/b"}}],
        [],
    ),
    "words": (
        {"type": "command", "parameters": {"command": ["mkdir", "-p", "/home/user/a b"]}},
        [{"do": "run", "with": {"command": "mkdir -p '/home/user/a b'"}}],
        [],
    ),
    "root": (
        {
            "type": "execute",
            "parameters": {"command": "echo {CLIENT_PASSWORD} | sudo -S mkdir ~/Desktop/a", "shell": True},
        },
        [{"do": "run", "with": {"command": "mkdir /home/user/Desktop/a", "user": "root"}}],
        [],
    ),
    "terminal": (
        {
            "type": "execute",
            "parameters": {
                "command": ["python", "-c", "import pyautogui; pyautogui.click(1, 2); pyautogui.hotkey('ctrl', 'alt', 't')"]
            },
        },
        [{"do": "start_program", "with": {"desktop_id": "org.gnome.Terminal"}}],
        [],
    ),
    "session": (
        {
            "type": "execute",
            "parameters": {
                "command": "export DBUS_SESSION_BUS_ADDRESS='unix:path=/run/user/1000/bus'\ngsettings set a b true",
                "shell": True,
            },
        },
        [{"do": "run", "with": {"command": "gsettings set a b true"}}],
        [],
    ),
    "keys": (
        {"type": "execute", "parameters": {"command": ["python", "-c", "import pyautogui; pyautogui.press('down')"]}},
        [],
        ["gui"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", _STEPS)
def test_setup_steps(case: str, tmp_path: Path) -> None:
    step, wanted, kinds = _STEPS[case]
    content = osworld(
        "check_slide_orientation_Portrait", result=vm_file("/home/user/a.pptx"), config=[step]
    )
    status, found, task = _one(tmp_path, content)
    assert (status, found) == (Status.PART if kinds else Status.WHOLE, kinds)
    assert task is not None
    assert _steps(task) == [{"on": "desktop", **row} for row in wanted]


_WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "unknown key": (osworld(INFEASIBLE, intruction="x"), "no key 'intruction'", "'instruction'"),
    "unknown key of the evaluator": (
        {**osworld(INFEASIBLE), "evaluator": {"func": INFEASIBLE, "results": {}}},
        "no key 'results'",
        "'result'",
    ),
    "missing instruction": (
        {k: v for k, v in osworld(INFEASIBLE).items() if k != "instruction"},
        "instruction",
        "",
    ),
    "lists of different lengths": (
        osworld(["file_contains", "exact_match"], result=[vm_file("/a")]),
        "result must have 2 entries, as func has; it has 1",
        "docs/importing.md",
    ),
    "list for one function": (
        osworld("file_contains", result=[vm_file("/a")]),
        "result must be an object",
        "docs/importing.md",
    ),
    "no type": (
        osworld("file_contains", result={"path": "/a"}),
        "the key 'type' of result is missing",
        "docs/importing.md",
    ),
    "function that is no name": (osworld([]), "func must be the name", "Write a name"),
    "conjunction": (osworld(INFEASIBLE, conj="xor"), "conj", ""),
}


@pytest.mark.parametrize("case", _WRONG)
def test_a_bad_file_is_named_with_place_and_cure(case: str, tmp_path: Path) -> None:
    content, problem, cure = _WRONG[case]
    path = tmp_path / "task.json"
    path.write_text(json.dumps(content, indent=2))
    (result,) = import_tasks(path).results
    assert result.status is Status.BAD
    text = result.reasons[0].text
    line = int(text.split(f"{path}:")[1].split(":")[0])
    assert 1 <= line <= len(path.read_text().splitlines())
    assert problem in text
    assert cure in text


def test_the_table_is_what_the_code_carries_over() -> None:
    assert CARRYING
    listed = {name for name, entry in mapping().functions.items() if entry.ours is not None}
    assert listed == carried_functions() | {INFEASIBLE}


def test_the_table_names_our_functions() -> None:
    known = builtin_evaluators()
    evaluators = {*known["desktop"], *known["session"]}
    rows = [*mapping().functions.items(), *mapping().table_rules.items()]
    wrong = [
        (name, ours) for name, row in rows for ours in row.ours or () if ours not in evaluators
    ]
    operations = setup_tools()["desktop"]
    wrong += [
        (name, ours)
        for name, row in mapping().setup.items()
        for ours in row.ours or ()
        if ours not in operations
    ]
    assert wrong == []
