"""Python files of a suite: the functions in them, and how errors are reported."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

from controller.actions.vocabulary import vocabulary
from evaluators.graph.outcome import Call
from evaluators.loading.suite import load_suite
from evaluators.runners import BundleRunner, machine_runner
from foundation.errors import SpecError
from provisioning.fake import FakeDesktop
from provisioning.links.local import connect_local
from provisioning.links.zipapp import build_probe

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.loading.suite import Suite

INDEX = 'name: my-suite\nversion: "1"\ndescription: d\ntasks: [one.yaml]\n'
TASK = """
id: one
instruction: Do it.
roles: {desktop: desktop}
graph: [{id: done, on: desktop, check: is_done, with: {name: a}}]
oracle: [{do: complete}]
"""
HEAD = """
from __future__ import annotations
from evaluators.decorators import action, evaluator, setup
"""
EVALUATOR = (
    HEAD
    + '''
@evaluator(on="desktop")
def is_done(guest, name: str) -> bool:
    """Return whether it is done.

    Args:
        guest: the desktop.
        name: of it.
    """
    return name == "a"
'''
)
LINE = EVALUATOR.splitlines().index('@evaluator(on="desktop")') + 1


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in {"suite.yaml": INDEX, "one.yaml": TASK, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def load(root: Path, **files: str) -> Suite:
    """Load a suite whose evaluators are in files of these names."""
    named = {f"evaluators/{name}.py": text for name, text in files.items()}
    return load_suite(write(root, named), vocabulary())


def error_of(root: Path, files: dict[str, str]) -> SpecError:
    with pytest.raises(SpecError) as caught:
        load_suite(write(root, files), vocabulary())
    return caught.value


def test_suite_provides_functions_of_each_kind(tmp_path: Path) -> None:
    action = HEAD + (
        '@action(on="desktop")\ndef fly(machine, far: int) -> None:\n'
        '    """Fly.\n\n    Args:\n        machine: m.\n        far: px.\n    """\n'
    )
    prepare = HEAD + '@setup(on="phone")\ndef charge(machine) -> None:\n    """Charge."""\n'
    files = {
        "evaluators/a.py": EVALUATOR,
        "actions/b.py": action,
        "setup/c.py": prepare,
        "one.yaml": TASK.replace("{do: complete}", "{on: desktop, do: fly, with: {far: 3}}"),
    }
    suite = load_suite(write(tmp_path, files), vocabulary())
    known = suite.vocabulary
    assert [tool.name for tool in known.own] == ["is_done", "fly", "charge"]
    assert "file_exists" in known.evaluators["desktop"]
    assert known.actions is not None
    assert {"fly", "click"} <= set(known.actions["desktop"])
    assert known.setups is not None
    assert {"charge", "add_task"} <= set(known.setups["phone"])
    assert "is_done" not in vocabulary().evaluators["desktop"]


@pytest.mark.slow
def test_host_evaluators_may_import_parsers_of_documents(tmp_path: Path) -> None:
    parsers = "import docx, numpy, odf.opendocument, openpyxl, PIL.Image, pptx, pypdf\n"
    for place, is_allowed in (("documents", True), ("desktop", False)):
        text = EVALUATOR.replace('on="desktop"', f'on="{place}"')
        text = text.replace("import annotations\n", f"import annotations\n\n{parsers}", 1)
        text = text.replace("guest", "machine")
        files = {"evaluators/a.py": text}
        if is_allowed:
            assert [
                tool.name
                for tool in load_suite(write(tmp_path, files), vocabulary()).vocabulary.own
            ]
        else:
            assert "standard library" in str(error_of(tmp_path, files))


def test_files_are_part_of_the_suite_and_bundle_digests(tmp_path: Path) -> None:
    suite = load(tmp_path, a=EVALUATOR)
    again = load(tmp_path, a=EVALUATOR)
    other = load(tmp_path, a=EVALUATOR + "# other\n")
    assert suite.digest == again.digest != other.digest
    bundles = [version.vocabulary.bundle.digest for version in (suite, again, other)]
    assert bundles[0] == bundles[1] != bundles[2]
    assert vocabulary().bundle.digest not in bundles


def test_two_versions_of_a_suite_are_isolated_in_one_process(tmp_path: Path) -> None:
    old = load(tmp_path, a=EVALUATOR)
    new = load(tmp_path, a=EVALUATOR.replace('== "a"', '== "b"'))
    answers = [
        suite.vocabulary.evaluators["desktop"]["is_done"].mark.function(None, "a")
        for suite in (old, new)
    ]
    assert answers == [True, False]


def test_functions_know_their_file_and_leave_no_other_file(tmp_path: Path) -> None:
    suite = load(tmp_path, a=EVALUATOR)
    function = suite.vocabulary.evaluators["desktop"]["is_done"].mark.function
    assert inspect.getsourcefile(function) == str(tmp_path / "evaluators/a.py")
    assert "def is_done" in inspect.getsource(function)
    assert [path.name for path in (tmp_path / "evaluators").iterdir()] == ["a.py"]


SIBLING = (
    EVALUATOR.replace('return name == "a"', "return is_name(guest.home + name)")
    + "from .names import is_name\n"
)
NAMES = 'def is_name(text):\n    return text.endswith("a")\n'


def calls(*names: str) -> list[Call]:
    return [Call(name, "is_done", {"name": name}) for name in names]


def test_guests_get_evaluators_and_their_imports(tmp_path: Path) -> None:
    on_host = HEAD + (
        'import numpy\n\n@evaluator(on="documents")\ndef is_big(view) -> bool:\n'
        '    """Return whether it is big."""\n    return bool(numpy.ones(1))\n'
    )
    suite = load(tmp_path, a=SIBLING, names=NAMES, host=on_host)
    own = [name for name in suite.vocabulary.bundle.modules if name.startswith("suite_code.")]
    assert [name.rpartition(".")[2] for name in own] == ["a", "names"]
    archive = build_probe()
    zipapp = tmp_path / archive.file_name
    zipapp.write_bytes(archive.data)
    client = connect_local(zipapp)
    try:
        outcomes = BundleRunner(client, suite.vocabulary.bundle).evaluate(
            [*calls("a", "b"), Call("file", "path_absent", {"path": "/no"})], timeout_s=20
        )
    finally:
        client.close()
    assert [(outcome.met, outcome.reason) for outcome in outcomes] == [
        (True, ""),
        (False, ""),
        (True, ""),
    ]


def test_in_memory_desktops_run_suite_functions(tmp_path: Path) -> None:
    on_host = HEAD + (
        '@evaluator(on="vision")\ndef is_wide(view) -> bool:\n'
        '    """Return whether the screen is wide."""\n    return view.frame().shape[1] > 10\n'
    )
    suite = load(tmp_path, a=SIBLING, names=NAMES, host=on_host)
    runner = machine_runner(FakeDesktop(), suite.vocabulary)
    outcomes = runner.evaluate([*calls("a", "b"), Call("wide", "is_wide")], timeout_s=5)
    assert {outcome.node: outcome.met for outcome in outcomes} == {
        "a": True,
        "b": False,
        "wide": True,
    }


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("def f(:\n", 1, "invalid syntax"),
        ("x = 1\nimport no_such_module\n", 2, "ModuleNotFoundError: No module named"),
        ("def f():\n    return 1 / 0\nf()\n", 2, "ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
        (
            HEAD + '@evaluator(on="desktop")\ndef f(guest) -> bool:\n    return True\n',
            4,
            "f has no docstring",
        ),
        (HEAD + '@evaluator(on="moon")\ndef f(guest) -> bool:\n    """F."""\n', 4, "'moon'"),
        (EVALUATOR.replace("name: str", "name"), LINE, "Parameter 'name' of is_done has no type"),
        (EVALUATOR.replace("        name: of it.\n", ""), LINE, "no line in `Args:`"),
        (EVALUATOR.replace("name: str", "name: Unknown"), LINE, "'Unknown' is not defined"),
        (EVALUATOR.replace(" -> bool", ""), LINE, "must be annotated to return bool"),
        (EVALUATOR.replace("guest, name: str", ""), LINE, "needs a first parameter"),
        (
            EVALUATOR.replace("is_done", "file_exists"),
            LINE,
            "'file_exists' is defined in Mesocosm itself",
        ),
        (EVALUATOR.replace("is_done", "image_has_text"), LINE, "'image_has_text'"),
        (EVALUATOR.replace("@evaluator", "@action"), LINE, "Move it to actions/."),
        (EVALUATOR + "import numpy\n", LINE + 9, "guests do not have numpy"),
        (EVALUATOR + "from .other import x\n", LINE + 9, "No module named"),
        (
            EVALUATOR + "\n\ndef g(x):\n    match x:\n        case 1:\n            pass\n",
            LINE + 14,
            "only supported in Python 3.10",
        ),
        (
            EVALUATOR.replace("from __future__ import annotations", "").replace(
                "name: str", "name: str | None"
            ),
            LINE + 1,
            "Python 3.9 cannot evaluate X | Y",
        ),
    ],
)
def test_error_is_reported_with_file_and_line(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    files = {"evaluators/a.py": text}
    error = error_of(tmp_path, files)
    assert error.brief.startswith(f"{tmp_path}/evaluators/a.py:{line}: ")
    assert reason in f"{error.brief} {error.resolution}"


def test_two_files_with_one_name_are_both_reported(tmp_path: Path) -> None:
    error = error_of(tmp_path, {"evaluators/a.py": EVALUATOR, "evaluators/b.py": EVALUATOR})
    assert error.brief == (
        f"{tmp_path}/evaluators/b.py:{LINE}: another evaluator called 'is_done' is "
        f"defined in {tmp_path}/evaluators/a.py:{LINE}."
    )


@pytest.mark.parametrize("on", ["documents", "vision"])
def test_actions_need_a_known_place(tmp_path: Path, on: str) -> None:
    text = HEAD + f'@action(on="{on}")\ndef f(machine) -> None:\n    """F."""\n'
    error = error_of(tmp_path, {"actions/a.py": text})
    assert "Known: desktop, phone, session." in error.resolution


@pytest.mark.parametrize("name", ["my-file.py", "__init__.py"])
def test_file_that_cannot_be_a_module_is_rejected(tmp_path: Path, name: str) -> None:
    assert "cannot be a module" in error_of(tmp_path, {f"evaluators/{name}": EVALUATOR}).brief


def test_empty_init_file_is_ignored(tmp_path: Path) -> None:
    files: dict[str, Any] = {"evaluators/__init__.py": "", "evaluators/a.py": EVALUATOR}
    suite = load_suite(write(tmp_path, files), vocabulary())
    assert suite.digest == load(tmp_path, a=EVALUATOR).digest


def test_files_outside_the_folder_and_large_ones_are_rejected(tmp_path: Path) -> None:
    outside = tmp_path / "a.py"
    outside.write_text(EVALUATOR)
    root = write(tmp_path / "suite", {"evaluators/b.py": "#" * (1 << 20) + EVALUATOR})
    assert "exceed 1 MiB" in error_of(root, {}).brief
    (root / "evaluators/b.py").unlink()
    (root / "evaluators/a.py").symlink_to(outside)
    assert "outside the suite's folder" in error_of(root, {}).brief


def test_error_in_a_file_does_not_hide_errors_of_tasks(tmp_path: Path) -> None:
    wrong = EVALUATOR.replace("        name: of it.\n", "")
    task = TASK.replace("instruction: Do it.", "instruction: Do it.\nlimits: {steps: 0}")
    error = error_of(tmp_path, {"evaluators/mine.py": wrong, "one.yaml": task})
    assert error.brief.startswith("2 errors in 2 files")
    assert "'name' of is_done has no type or no line in `Args:`" in error.details
    assert "steps" in error.details


def test_functions_of_a_broken_file_cause_no_task_errors(tmp_path: Path) -> None:
    wrong = EVALUATOR.replace("        name: of it.\n", "")
    error = error_of(tmp_path, {"evaluators/mine.py": wrong})
    assert "'name' of is_done has no type or no line in `Args:`" in error.brief
    assert not error.parts


OBSERVATION = '''
from __future__ import annotations
from mesocosm import Machine, observation

@observation(on="desktop")
def windows_open(machine: Machine) -> int:
    """Count the windows."""
    return len(machine.link.call("windows"))
'''
PROMPT = '''
from __future__ import annotations
from mesocosm import Bounds, Mark, Prompted, Sight, visual_prompt

@visual_prompt(on="phone")
def whole(sight: Sight) -> Prompted:
    """Mark the whole screen."""
    height, width = sight.frame.shape[:2]
    return Prompted(sight.frame, [Mark(1, Bounds(0, 0, width, height), "screen", "", "icon")])
'''


def test_a_suite_brings_observation_and_visual_prompt_functions(tmp_path: Path) -> None:
    files = {
        "evaluators/own.py": EVALUATOR,
        "observations/windows.py": OBSERVATION,
        "visual_prompts/whole.py": PROMPT,
    }
    suite = load_suite(write(tmp_path, files), vocabulary())
    functions = suite.vocabulary
    assert {*functions.observations["desktop"]} == {"windows_open"}
    assert {*functions.visual_prompts["phone"]} == {"whole"}
    assert "phone" not in functions.observations
    changed = {**files, "observations/windows.py": OBSERVATION.replace("Count", "Return")}
    other = load_suite(write(tmp_path, changed), vocabulary())
    assert suite.digest != other.digest


def test_such_a_function_has_only_its_subject_and_its_own_folder(tmp_path: Path) -> None:
    more = OBSERVATION.replace("machine: Machine)", "machine: Machine, more: int)")
    wrong = {"evaluators/own.py": EVALUATOR, "observations/windows.py": more}
    assert "only one parameter" in error_of(tmp_path / "a", wrong).brief
    moved = {"evaluators/own.py": EVALUATOR, "actions/windows.py": OBSERVATION}
    assert "observations/" in str(error_of(tmp_path / "b", moved))
