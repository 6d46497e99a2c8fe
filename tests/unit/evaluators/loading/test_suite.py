"""Suites and tasks from files; each error has file, line and what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluators.catalogue import Vocabulary, builtin_evaluators
from evaluators.coordinates import ScreenX, ScreenY  # noqa: TC001 - read by pydantic
from evaluators.decorators import action, setup
from evaluators.loading.suite import list_suites, load_suite
from evaluators.model.node import Mode
from evaluators.model.oracle import Act, Target, WaitFor
from evaluators.schema import describe
from foundation.errors import SpecError, UnknownNameError
from provisioning.protocols import Bounds, Element
from provisioning.resource import DESKTOP, PHONE, ResourceSpec

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.model.task import Task

TASK = """\
id: one
instruction: Do it.
roles: {desktop: desktop, phone: phone}
setup:
  - on: phone
    do: add_task
    with: {title: Milk}
graph:
  - id: opened
    on: phone
    check: app_in_front
    with: {package: a.b}
    mode: once
  - id: made
    on: desktop
    check: file_exists
    with:
      path: ~/a.txt
    after: [opened]
limits: {steps: 5, seconds: 60}
oracle:
  - {on: desktop, do: click, at: {name: OK, role: push button}}
  - wait_for:
      on: desktop
      check: file_exists
      with: {path: ~/a.txt}
    seconds: 5
  - {do: complete}
"""


@action(on="desktop")
def click(machine: object, x: ScreenX, y: ScreenY) -> None:
    """Click.

    Args:
        machine: the desktop.
        x: px.
        y: px.
    """


@action(on="session")
def complete(session: object) -> None:
    """End."""


@setup(on="phone")
def add_task(machine: object, title: str, done: bool = False) -> None:
    """Add a to-do.

    Args:
        machine: the phone.
        title: what.
        done: ticked.
    """


VOCABULARY = Vocabulary(
    builtin_evaluators(),
    actions={"desktop": {"click": describe(click)}, "session": {"complete": describe(complete)}},
    setups={"phone": {"add_task": describe(add_task)}},
)
UNCHECKED = Vocabulary(builtin_evaluators())


def write(folder: Path, *tasks: str) -> Path:
    names = [f"t{number}.yaml" for number in range(len(tasks))]
    for name, text in zip(names, tasks, strict=True):
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "suite.yaml").write_text(
        f'name: mine\nversion: "1"\ndescription: For tests.\ntasks: [{", ".join(names)}]\n'
    )
    return folder


def load(folder: Path, *tasks: str) -> Task:
    return load_suite(write(folder, *tasks), VOCABULARY).tasks[0]


def broken(tmp_path: Path, old: str, new: str) -> SpecError:
    assert TASK.count(old) == 1, "the mistake must have one place"
    with pytest.raises(SpecError) as caught:
        load(tmp_path, TASK.replace(old, new))
    return caught.value


def test_task_has_the_content_of_its_file(tmp_path: Path) -> None:
    task = load(tmp_path, TASK)
    assert task.roles == {"desktop": ResourceSpec(DESKTOP), "phone": ResourceSpec(PHONE)}
    assert task.setup[0].args == {"title": "Milk"}  # type: ignore[union-attr]
    opened, made = task.graph
    assert (opened.mode, made.mode, made.after) == (Mode.ONCE, Mode.HOLD, ("opened",))
    assert made.args == {"path": "~/a.txt"}
    assert (task.limits.steps, task.limits.seconds) == (5, 60)
    acts, waits, ends = task.oracle
    assert isinstance(acts, Act)
    assert acts.at == Target(name="OK", role="push button")
    assert isinstance(waits, WaitFor)
    assert waits.wait_for.check == "file_exists"
    assert ends == Act(do="complete")


@pytest.mark.parametrize(
    ("old", "new", "line", "brief", "resolution"),
    [
        ("check: app_in_front", "check: app_in_frnt", 11, "'app_in_frnt'", "'app_in_front'"),
        ("check: app_in_front", "chek: app_in_front", 11, "'chek' here. Did you mean 'check'?", ""),
        ("do: add_task", "do: ad_task", 6, "operation for phone called 'ad_task'", "'add_task'"),
        ("do: click", "do: clik", 22, "operation for desktop called 'clik'", "'click'"),
        ("{do: complete}", "{do: complte}", 28, "operation for session called 'complte'", "'complete'"),
        ("  - on: phone\n    do", "  - on: fone\n    do", 5, "role called 'fone'", "'phone'"),
        ("after: [opened]", "after: [openned]", 19, "node called 'openned'", "'opened'"),
        ("package: a.b", "pakage: a.b", 12, "'pakage'", "app_in_front takes: package."),
        ("      path: ~/a.txt", "      path: ./a.txt", 18, 'path: "./a.txt" is a relative path. Write "~/a.txt" for', "takes: path."),
        ("package: a.b", "package: 3", 12, "package: Input should be a valid string, not 3", ""),
        ("      path: ~/a.txt", "      pfad: ~/a.txt", 18, "'pfad'", "file_exists takes: path."),
        ("mode: once", "mode: onse", 13, "'once', 'hold' or 'keep', not 'onse'", ""),
        ("steps: 5", "steps: 0", 20, "limits.steps: Input should be greater", ""),
        ("steps: 5", "steps: five", 20, "limits.steps: Input should be a valid integer", ""),
        ("steps: 5", "stepps: 5", 20, "'stepps' here. Did you mean 'steps'", ""),
        ("instruction: Do it.\n", "", 1, "the key 'instruction' is missing", ""),
        ("id: one", "id: One Task", 1, "id: 'One Task' is not a valid name. Write lower-case", ""),
        ("desktop: desktop,", "desktop: desktpo,", 3, "resource called 'desktpo'. Did you mean desktop?", ""),
        ("desktop: desktop,", "session: desktop,", 3, "'session' is not a machine", ""),
        ("at: {name: OK, role: push button}", "at: {}", 22, "Name at least one of", ""),
        ("at: {name: OK, role: push button}", "with: {x: 1}", 22, "y is missing", ""),
        ("  - {do: complete}", "  - {do: complete, at: {name: OK}}", 28, "complete takes no point on the screen", ""),
        ("    seconds: 5", "    secnds: 5", 27, "'secnds' here. Did you mean 'seconds'?", ""),
        ("      check: file_exists\n      with", "      check: file_exsts\n      with", 25, "'file_exsts'", "'file_exists'"),
        ("  - id: opened", "  - id: made", 14, "another node has the id 'made'", ""),
        ("graph:\n", "weird: 1\ngraph:\n", 8, "'weird' here", ""),
        ("limits: {steps: 5,", "limits: {steps: 1,", 21, "oracle takes 2 actions; limits.steps allows 1", ""),
        ("graph:\n", "infeasible: No.\ngraph:\n", 9, "of an infeasible task", "`mode: keep`, at: opened, made."),
        ("id: one", "id: [one", 2, "not valid YAML", "brackets"),
    ],
)  # fmt: skip
def test_broken_task_is_reported_with_file_line_and_expectation(  # noqa: PLR0917
    tmp_path: Path, old: str, new: str, line: int, brief: str, resolution: str
) -> None:
    error = broken(tmp_path, old, new)
    error = next(iter(error.parts), error)
    place, _, message = error.brief.partition(": ")
    assert place == f"{tmp_path / 't0.yaml'}:{line}"
    assert brief in message
    assert resolution in error.resolution


def test_cycle_is_reported_in_its_file(tmp_path: Path) -> None:
    error = broken(tmp_path, "    mode: once", "    mode: once\n    after: [made]")
    assert error.brief.startswith(f"{tmp_path / 't0.yaml'}:8: The graph has a cycle: ")
    assert "opened" in error.brief


def test_all_shape_errors_are_listed_with_their_lines(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path, TASK.replace("steps: 5", "steps: x").replace("mode: once", "mode: on"))
    path = tmp_path / "t0.yaml"
    assert caught.value.brief == f"2 errors in {path}."
    first, second = caught.value.details.splitlines()
    assert first.startswith(f"{path}:13: graph.0.mode")
    assert second.startswith(f"{path}:20: limits.steps")


def test_oracles_and_setups_are_unchecked_without_a_vocabulary(tmp_path: Path) -> None:
    folder = write(tmp_path, TASK.replace("do: click", "do: fly"))
    assert load_suite(folder, UNCHECKED).tasks[0].id == "one"


@pytest.mark.parametrize("text", ["", "only text\n", "- a\n- b\n"])
def test_task_must_be_a_mapping(tmp_path: Path, text: str) -> None:
    with pytest.raises(SpecError, match=r"t0\.yaml:1: expected keys and values"):
        load(tmp_path, text)


def test_duplicate_task_ids_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"t1.yaml:1: another task .* 'one'"):
        load(tmp_path, TASK, TASK)


def test_task_files_must_exist_within_the_suite(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    write(folder, TASK)
    (tmp_path / "out.yaml").write_text(TASK)
    index = folder / "suite.yaml"
    for name, message in (
        ("../out.yaml", "outside"),
        ("t00.yaml", "no task file called 't00.yaml'"),
    ):
        index.write_text(f'name: mine\nversion: "1"\ndescription: d\ntasks:\n  - {name}\n')
        with pytest.raises(SpecError, match=rf"suite.yaml:5: .*{message}"):
            load_suite(folder, VOCABULARY)


def test_digest_covers_content_and_not_layout(tmp_path: Path) -> None:
    def digest(text: str) -> str:
        return load_suite(write(tmp_path, text), VOCABULARY).digest

    first = digest(TASK)
    assert (
        digest(f"# a comment\n\n{TASK}".replace("{title: Milk}", '\n      title: "Milk"')) == first
    )
    for old, new in (("Milk", "Milks"), ("Do it.", "Do it!"), ("seconds: 60", "seconds: 61")):
        assert digest(TASK.replace(old, new)) != first


def test_alternatives_are_read_checked_and_in_the_digest(tmp_path: Path) -> None:
    other = "    or:\n      - {on: session, check: answer_equals, with: {expected: yes it is}}\n"
    plain = load_suite(write(tmp_path, TASK), VOCABULARY)
    text = TASK.replace("    after: [opened]\n", f"    after: [opened]\n{other}")
    suite = load_suite(write(tmp_path, text), VOCABULARY)
    assert [check.on for check in suite.task("one").graph[1].checks] == ["desktop", "session"]
    assert suite.digest != plain.digest
    # Suites without alternatives keep the digest of earlier versions.
    dumped = plain.task("one").graph[1].model_dump(mode="json", by_alias=True)
    assert set(dumped) == {"on", "check", "with", "id", "mode", "after"}
    with pytest.raises(SpecError, match=r"t0.yaml:21: .*no evaluator for session called"):
        load_suite(write(tmp_path, text.replace("answer_equals", "answer_equal")), VOCABULARY)


def test_suites_are_found_by_name_folder_or_file(tmp_path: Path) -> None:
    write(tmp_path, TASK)
    by_folder, by_file = (
        load_suite(p, VOCABULARY) for p in (str(tmp_path), tmp_path / "suite.yaml")
    )
    assert by_folder == by_file
    assert list_suites()[0] == "smoke"
    assert "documents" in list_suites()[1:]
    assert load_suite("smoke", UNCHECKED).name == "smoke"


def test_unknown_suites_and_tasks_are_reported_with_nearest_match(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError) as caught:
        load_suite("smokee", VOCABULARY)
    assert "Did you mean 'smoke'?" in caught.value.resolution
    with pytest.raises(SpecError, match="neither a suite's folder nor a file"):
        load_suite(tmp_path / "none", VOCABULARY)
    with pytest.raises(UnknownNameError, match="'ome'") as caught:
        load_suite(write(tmp_path, TASK), VOCABULARY).task("ome")
    assert "'one'" in caught.value.resolution


def test_target_selects_by_exact_name_role_id_and_index() -> None:
    def element(name: str, role: str = "button", resource_id: str = "") -> Element:
        return Element(role, name, Bounds(0, 0, 2, 2), resource_id=resource_id)

    elements = [element("Save as"), element("Save", "menu"), element("Save"), element("Save"),
                element("x", resource_id="a.b:id/title")]  # fmt: skip
    assert Target(name="Save").pick(elements) is elements[1]
    assert Target(name="Save", role="button").pick(elements) is elements[2]
    assert Target(name="Save", role="button", index=1).pick(elements) is elements[3]
    assert Target(resource_id="title").pick(elements) is elements[4]
    assert Target(resource_id="a.b:id/title").pick(elements) is elements[4]
    assert Target(resource_id="itle").pick(elements) is None
    assert Target(name="save").pick(elements) is None
    assert Target(name="Save", index=3).pick(elements) is None


# --- the suite that comes with Mesocosm ---

SMOKE = load_suite("smoke", UNCHECKED)


def test_smoke_has_three_desktop_two_phone_and_three_cross_device_tasks() -> None:
    kinds = [tuple(sorted(set(task.kinds.values()))) for task in SMOKE.tasks]
    assert len(kinds) == 8
    assert kinds.count((DESKTOP,)) == 3
    assert kinds.count((PHONE,)) == 2
    assert kinds.count((DESKTOP, PHONE)) == 3


@pytest.mark.parametrize("task", SMOKE.tasks, ids=lambda task: task.id)
def test_each_smoke_task_has_a_small_graph_ending_in_a_state(task: Task) -> None:
    assert 2 <= len(task.graph) <= 5
    inner = {name for node in task.graph for name in node.after}
    assert all(node.mode is Mode.HOLD for node in task.graph if node.id not in inner)
    assert any(node.mode is Mode.ONCE for node in task.graph)


@pytest.mark.parametrize("task", SMOKE.tasks, ids=lambda task: task.id)
def test_each_smoke_oracle_respects_its_limits_and_completes(task: Task) -> None:
    acts = [step for step in task.oracle if isinstance(step, Act)]
    assert len(acts) <= task.limits.steps
    assert acts[-1] == Act(do="complete")
    assert all(step.on in task.roles or step.on is None for step in acts)


def test_all_errors_of_all_files_are_reported_once(tmp_path: Path) -> None:
    wrong = (
        TASK.replace("check: app_in_front", "check: app_in_frnt")
        .replace("steps: 5", "steps: x")
        .replace("instruction:", "instructoin:")
        .replace("after: [opened]", "after: [openned]")
        .replace("do: add_task", "do: ad_task")
    )
    other = TASK.replace("id: one", "id: two").replace(
        "path: ~/a.txt\n    after", "pth: a\n    after"
    )
    with pytest.raises(SpecError) as caught:
        load(tmp_path, wrong, other)
    assert caught.value.brief == "6 errors in 2 files."
    assert not caught.value.resolution, "each line has its own"
    rows = caught.value.details.splitlines()
    lines = [row.partition(": ")[0].removeprefix(f"{tmp_path}/") for row in rows]
    assert lines == [*(f"t0.yaml:{number}" for number in (2, 6, 11, 19, 20)), "t1.yaml:18"]
    for row, hint in zip(
        rows[:4], ("'instruction'", "'add_task'", "'app_in_front'", "'opened'"), strict=True
    ):
        assert f"Did you mean {hint}?" in row
    assert "wrong arguments" in rows[-1]


def test_error_in_another_task_does_not_affect_this_one(tmp_path: Path) -> None:
    broken_task = TASK.replace("id: one", "id: two").replace("do: click", "do: clik")
    folder = write(tmp_path, TASK, broken_task)
    suite = load_suite(folder, VOCABULARY, ["on*"])
    assert [task.id for task in suite.tasks] == ["one"]
    assert "called 'clik'" in suite.left_out["t1.yaml"]
    for wanted in (["two"], ["one", "t*"], []):
        with pytest.raises(SpecError, match=r"t1.yaml:22: .*'clik'"):
            load_suite(folder, VOCABULARY, wanted)


def test_folder_without_an_index_is_reported_as_such(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"is not a suite: it does not contain suite\.yaml"):
        load_suite(str(tmp_path), VOCABULARY)


def test_only_the_three_nearest_names_are_suggested() -> None:
    names = [f"name-{number}" for number in range(40)]
    near = UnknownNameError.of("thing", "name-3x", names).resolution
    assert near.count("'") == 6
    assert "Known" not in near
    far = UnknownNameError.of("thing", "zzz", names).resolution
    assert far.endswith("and 30 more.")


PARAMETERS = "parameters: {what: {type: text}}\n"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"Do it.": "Do ${wht}.", "title: Milk": 'title: "${what}"', "do: click": "do: clik"},
            {2: "placeholder called 'wht'", 22: "'clik'"},
        ),
        (
            {"mode: once": "mode: kept\n    after: [rename]", "do: click": "do: clik"},
            {13: "'once', 'hold' or 'keep'", 14: "node called 'rename'", 23: "'clik'"},
        ),
        (
            {"limits: {": "difficulty: eazy\nlimits: {stpes: 3, ", "check: app_in": "check: ap_in"},
            {11: "'ap_in_front'", 20: "not 'eazy'", 21: "'stpes' here"},
        ),
        (
            {
                "limits: {steps: 5": "difficulty: eazy\negress: {dektop: [example.org]}\nlimits: {steps: 1",
                "after: [opened]": "app: Maps",
                "  - id: opened": "  - id: made",
            },
            {
                14: "another node has the id 'made'",
                20: "not 'eazy'",
                21: "unknown role 'dektop'",
                23: "allows 1",
            },
        ),
    ],
)
def test_checks_do_not_hide_errors_of_other_checks(
    tmp_path: Path, changes: dict[str, str], expected: dict[int, str]
) -> None:
    text = TASK
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    text = f"{text}{PARAMETERS}" if "${" in text else text
    with pytest.raises(SpecError) as caught:
        load(tmp_path, text)
    mistakes = caught.value.details.splitlines()
    assert len(mistakes) == len(expected), "no phantoms"
    for mistake, (line, message) in zip(mistakes, expected.items(), strict=True):
        assert mistake.startswith(f"{tmp_path / 't0.yaml'}:{line}: ")
        assert message in mistake


def test_wrong_keys_to_press_are_reported(tmp_path: Path) -> None:
    text = f"{TASK}press_before_judging:\n  - {{on: desktp, keys: [ctrl, s]}}\n"
    with pytest.raises(SpecError) as caught:
        load(tmp_path, text)
    assert "t0.yaml:30: " in str(caught.value)
    assert "Did you mean 'desktop'?" in str(caught.value)


def test_misspelt_index_key_does_not_hide_missing_files(tmp_path: Path) -> None:
    folder = write(tmp_path, TASK)
    index = folder / "suite.yaml"
    text = index.read_text().replace("description", "descripton").replace("t0.yaml", "t1.yaml")
    index.write_text(text)
    with pytest.raises(SpecError) as caught:
        load_suite(folder, VOCABULARY)
    first, second = caught.value.details.splitlines()
    assert "Did you mean 'description'?" in first
    assert "'t1.yaml'. Did you mean 't0.yaml'?" in second
