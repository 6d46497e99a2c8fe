"""Proofs: kept by what was validated, reused while it is the same, reported with results."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from controller.episode.result import Reason, TrialResult
from controller.planning import specify_run
from controller.specification.agent import CustomSpec
from controller.store.proofs import ProofStore, TaskProof, proven_levels
from controller.store.report import read_report
from controller.store.runs import Store
from controller.validation.evidence import Attempt, Kind, Meaning, Validation
from controller.validation.validator import Validator
from controller.wiring import open_suite
from evaluators.graph.outcome import Verdict
from tests.unit.controller.lab import ignore
from tests.unit.controller.validation.test_validator import COPY

if TYPE_CHECKING:
    from pathlib import Path

    from controller.store.proofs import Level
    from evaluators.loading.suite import Suite
    from tests.unit.controller.lab import Lab

SECOND = """\
id: other
instruction: Make a file.
roles: {desktop: desktop}
parameters: {name: {type: choice, from: [one, two, three, four, five]}}
setup: [{on: desktop, do: put_file, with: {path: ~/kept, content: x}}]
graph:
  - {id: made, on: desktop, check: file_exists, with: {path: "~/${name}"}}
oracle:
  - {on: desktop, do: open_app, with: {name: Terminal}}
  - {on: desktop, do: type_text, with: {text: "touch ${name}\\n"}}
"""
LEGITIMATE = f"{COPY}legitimate: [copy-reference, overwrite-both]\n"


def write(folder: Path, **tasks: str) -> Suite:
    for name, text in tasks.items():
        (folder / f"{name}.yaml").write_text(text)
    names = ", ".join(f"{name}.yaml" for name in tasks)
    index = f'name: mine\nversion: "1"\ndescription: d\ntasks: [{names}]\n'
    (folder / "suite.yaml").write_text(index)
    return open_suite(str(folder))


def validate(
    lab: Lab, suite: Suite, level: Level = "quick", *kinds: Kind
) -> tuple[list[Validation], list[str]]:
    """Return the validations, and the attempts that were made for them."""
    made: list[str] = []

    def note(attempt: Attempt) -> None:
        made.append(f"{attempt.result.task} {attempt.label}")

    runs = lab.folder / "runs"
    validator = Validator(
        suite,
        lab.fleet,
        runs,
        lab.clock,
        ignore,
        on_attempt=note,
        level=level,
        fleet_name="fake",
        reuse=True,
    )
    rounds = [row for row in validator.plan() if not kinds or row.kind in kinds]
    return validator.run(rounds), made


def levels(lab: Lab, suite: Suite) -> dict[str, str]:
    spec = specify_run(suite, CustomSpec(name="x"), fleet="fake", clock=lab.clock)
    return dict(proven_levels(spec, ProofStore(lab.folder / "proofs")))


@pytest.mark.slow
def test_only_what_changed_is_tried_again(lab: Lab, tmp_path: Path) -> None:
    suite = write(tmp_path, first=COPY, second=SECOND)
    assert set(levels(lab, suite).values()) == {"unproven"}
    rows, made = validate(lab, suite)
    assert [row.faults for row in rows] == [(), ()]
    assert sorted(made) == [
        "back-up noop",
        "back-up oracle editor",
        "back-up oracle terminal",
        "other noop",
        "other oracle",
    ]
    assert set(levels(lab, suite).values()) == {"quick"}

    again, made = validate(lab, suite)
    assert made == []
    assert [row.to_dict() for row in again] == [row.to_dict() for row in rows]

    # A solution is no part of the task: only its own attempt is tried again.
    solved = write(tmp_path, first=COPY.replace("echo one >", "echo  one >"), second=SECOND)
    rows, made = validate(lab, solved)
    assert made == ["back-up oracle editor"]
    assert rows[0].faults == ()
    # A node is: the task has no proof until everything is tried again.
    changed = write(tmp_path, first=COPY, second=SECOND.replace("made", "made-now"))
    assert levels(lab, changed) == {"back-up": "quick", "other": "unproven"}
    assert sorted(validate(lab, changed)[1]) == ["other noop", "other oracle"]


@pytest.mark.slow
def test_an_interrupted_validation_continues(lab: Lab, tmp_path: Path) -> None:
    suite = write(tmp_path, first=COPY, second=SECOND)
    runs = lab.folder / "runs"

    def interrupt(attempt: Attempt) -> None:
        if attempt.kind is Kind.ORACLE:
            raise KeyboardInterrupt

    stopped = Validator(
        suite, lab.fleet, runs, lab.clock, ignore, on_attempt=interrupt, level="quick",
        fleet_name="fake",
    )  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        stopped.run(stopped.plan())
    assert set(levels(lab, suite).values()) == {"unproven"}
    rows, made = validate(lab, suite)
    assert len(made) == 2, "noop of both tasks and one solution are known"
    assert [row.faults for row in rows] == [(), ()]


@pytest.mark.slow
def test_faults_leave_a_task_unproven_and_quick_does_not_replace_full(
    lab: Lab, tmp_path: Path
) -> None:
    wrong = write(tmp_path, first=COPY.replace("echo one >", "echo two >"))
    (row,), _ = validate(lab, wrong)
    assert row.faults
    assert levels(lab, wrong) == {"back-up": "unproven"}
    suite = write(tmp_path, first=LEGITIMATE)
    (row,), _ = validate(lab, suite, "full")
    assert row.faults == ()
    assert levels(lab, suite) == {"back-up": "full"}
    validate(lab, suite)
    assert levels(lab, suite) == {"back-up": "full"}


@pytest.mark.slow
def test_full_validation_tries_another_seed_and_the_setup_twice(lab: Lab, tmp_path: Path) -> None:
    suite = write(tmp_path, second=SECOND)
    (row,), _ = validate(lab, suite, "full", Kind.ORACLE, Kind.SEED, Kind.SETUP_TWICE)
    by_kind = {attempt.kind: attempt.result for attempt in row.attempts}
    assert {kind: result.verdict for kind, result in by_kind.items()} == dict.fromkeys(
        (Kind.ORACLE, Kind.SEED, Kind.SETUP_TWICE), Verdict.PASS
    )
    assert by_kind[Kind.ORACLE].parameters != by_kind[Kind.SEED].parameters
    assert by_kind[Kind.ORACLE].parameters == by_kind[Kind.SETUP_TWICE].parameters
    assert row.attempts[0].credits == (0,)


def test_a_setup_that_is_not_idempotent_is_a_note_and_no_fault() -> None:
    passed = TrialResult("a", 0, Verdict.PASS, Reason.SUCCESS, 1, 1, 3, 1.0)
    failed = replace(passed, verdict=Verdict.FAIL, reason=Reason.AGENT_ERROR)
    once = Attempt(Kind.ORACLE, "oracle", "run", passed)
    again = Attempt(Kind.SETUP_TWICE, "oracle", "run", failed)
    row = Validation("a", (once, again), needed=0)
    assert (row.faults, again.meaning) == ((), Meaning.NO_EVIDENCE)
    assert [note[:27] for note in row.notes] == ["the setup is not idempotent"]
    assert Validation("a", (once, replace(again, result=passed)), needed=0).notes == ()


@pytest.mark.slow
def test_parameters_that_never_differ_are_a_fault(lab: Lab, tmp_path: Path) -> None:
    suite = write(tmp_path, second=SECOND.replace("[one, two, three, four, five]", "[one]"))
    (row,), _ = validate(lab, suite, "full", Kind.ORACLE)
    assert any("parameter name has the same value for every seed" in fault for fault in row.faults)


@pytest.mark.slow
def test_credit_that_every_solution_loses_is_a_fault(lab: Lab, tmp_path: Path) -> None:
    task = """\
id: lost
instruction: i
roles: {desktop: desktop}
graph:
  - {id: first, on: desktop, check: file_exists, with: {path: ~/a}}
  - {id: second, on: desktop, check: file_exists, with: {path: ~/b}, after: [first]}
oracle:
  - {on: desktop, do: open_app, with: {name: Terminal}}
  - {on: desktop, do: type_text, with: {text: "echo one > a\\n"}}
  - {on: desktop, do: type_text, with: {text: "rm a\\n"}}
  - {on: desktop, do: type_text, with: {text: "echo one > a\\n"}}
  - {on: desktop, do: type_text, with: {text: "echo one > b\\n"}}
"""
    (row,), _ = validate(lab, write(tmp_path, first=task), "full", Kind.ORACLE)
    assert row.attempts[0].credits == (0, 1, 0, 1)
    assert any("credit falls while the task is being solved" in fault for fault in row.faults)
    with_way = task.replace("oracle:\n", "oracles:\n  long:\n", 1)
    other = with_way.replace("  - {on: desktop, do:", "    - {on: desktop, do:") + (
        "  short:\n    - {on: desktop, do: open_app, with: {name: Terminal}}\n"
        '    - {on: desktop, do: type_text, with: {text: "echo one > a\\necho one > b\\n"}}\n'
    )
    (row,), _ = validate(lab, write(tmp_path, first=other), "full", Kind.ORACLE)
    assert not any("credit falls" in fault for fault in row.faults)


@pytest.mark.slow
def test_undeclared_changes_of_every_solution_are_a_fault(lab: Lab, tmp_path: Path) -> None:
    task = SECOND.replace('"touch ${name}\\n"', '"touch ${name}\\ntouch other\\n"')
    (row,), _ = validate(lab, write(tmp_path, second=task), "full", Kind.NOOP, Kind.ORACLE)
    assert any("changes more than declared: desktop file" in fault for fault in row.faults), (
        row.faults
    )
    declared = f"{task}may_change: {{desktop: {{files: [~/other]}}}}\n"
    (row,), _ = validate(lab, write(tmp_path, second=declared), "full", Kind.NOOP, Kind.ORACLE)
    assert not any("more than declared" in fault for fault in row.faults)


def proof(**changes: object) -> TaskProof:
    fields = {
        "task": "a",
        "level": "full",
        "faults": (),
        "attempts": 3,
        "images": {"desktop": "d1"},
        "proved_s": 1.0,
        "code": "x",
    }
    return TaskProof.model_validate({**fields, **changes})


def test_a_proof_is_about_images() -> None:
    assert proof().proves({"desktop": "d1", "phone": "p"})
    assert not proof().proves({"desktop": "d2"})
    assert not proof().proves({})
    assert not proof(faults=("wrong",)).proves({"desktop": "d1"})


def test_results_say_how_tasks_were_proven_when_the_run_was_created(lab: Lab) -> None:
    store = Store(lab.folder / "runs")
    spec = specify_run(lab.suite, CustomSpec(name="x"), fleet="fake", clock=lab.clock)
    folder = store.create(spec)
    ids = [task.id for task in lab.suite.tasks]
    report = read_report(folder)
    assert report.to_dict()["proof"] == {
        "level": "unproven",
        "tasks": dict.fromkeys(ids, "unproven"),
    }
    assert f"proof: unproven, {len(ids)} of {len(ids)} tasks: {', '.join(ids)}" in report.summary()
    known = dict.fromkeys(ids, "full")
    (folder.path / "proof.json").write_text(json.dumps(known))
    assert "every task is proven (full)" in read_report(folder).summary()
    (folder.path / "proof.json").write_text(json.dumps({**known, ids[0]: "quick"}))
    quick = read_report(folder)
    assert quick.proof == "quick"
    assert "(quick)" in quick.summary()
    (folder.path / "proof.json").unlink()
    assert replace(quick, proven=folder.proven).proof == "unproven"
