"""Validation of suites: only solutions pass."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from controller.episode.result import Reason
from controller.scheduling.events import TrialStarted
from controller.validation.evidence import Attempt, Kind, Meaning, Validation
from controller.validation.validator import Validator
from controller.wiring import open_suite
from evaluators.graph.outcome import Verdict
from foundation.errors import LinkTimeoutError
from provisioning.resource import DESKTOP, ResourceSpec
from tests.unit.controller.lab import ignore

if TYPE_CHECKING:
    from pathlib import Path

    from controller.scheduling.events import TrialEvent
    from tests.unit.controller.lab import Lab

COPY = """\
id: back-up
instruction: Bring ~/notes back to what it was; the backup is in /srv/notes.
roles: {desktop: desktop}
setup:
  - {on: desktop, do: put_file, with: {path: /srv/notes/a, content: "one\\n"}}
  - {on: desktop, do: put_file, with: {path: ~/notes/a, content: "two\\n"}}
graph:
  - {id: equal, on: desktop, check: directories_equal, with: {source: /srv/notes, target: ~/notes}}
oracles:
  terminal:
    - {on: desktop, do: open_app, with: {name: Terminal}}
    - {on: desktop, do: type_text, with: {text: "cp /srv/notes/a notes/a\\n"}}
  editor:
    - {on: desktop, do: open_app, with: {name: Terminal}}
    - {on: desktop, do: type_text, with: {text: "echo one > notes/a\\n"}}
must_fail:
  other-text:
    - {on: desktop, do: open_app, with: {name: Terminal}}
    - {on: desktop, do: type_text, with: {text: "echo three > notes/a\\n"}}
"""


def validated(lab: Lab, *kinds: Kind) -> list[Validation]:
    validator = Validator(lab.suite, lab.fleet, lab.folder, lab.clock, ignore)
    rounds = validator.plan()
    return validator.run([planned for planned in rounds if not kinds or planned.kind in kinds])


def alone(lab: Lab, folder: Path, task: str, *kinds: Kind) -> Validation:
    (folder / "task.yaml").write_text(task)
    index = 'name: mine\nversion: "1"\ndescription: d\ntasks: [task.yaml]\n'
    (folder / "suite.yaml").write_text(index)
    lab.suite = open_suite(str(folder))
    (row,) = validated(lab, *kinds)
    return row


@pytest.mark.slow
def test_tiny_suite_is_sound(lab: Lab) -> None:
    rows = validated(lab)
    assert [row.task for row in rows] == [task.id for task in lab.suite.tasks]
    assert [row.faults for row in rows] == [()] * 4
    assert "oracle" in {attempt.label for attempt in rows[0].attempts}
    tried = {attempt.kind for attempt in rows[0].attempts}
    assert tried == set(Kind) - {Kind.MUST_FAIL, Kind.SEED}
    first = rows[0].to_dict()
    assert (first["ok"], first["faults"]) == (True, [])
    assert all(attempt.run.startswith("2") for attempt in rows[0].attempts)


@pytest.mark.slow
def test_task_is_proven_by_cheats_and_attempts_that_must_fail(lab: Lab, tmp_path: Path) -> None:
    row = alone(lab, tmp_path, f"{COPY}legitimate: [copy-reference, overwrite-both]\n")
    assert row.faults == ()
    names = {attempt.label: attempt.meaning for attempt in row.attempts}
    assert names["oracle terminal"] is names["oracle editor"] is Meaning.AS_IT_SHOULD
    assert names["must fail other-text"] is Meaning.EVIDENCE
    assert names["cheat write-paths"] is Meaning.EVIDENCE
    assert "cheat copy-reference" not in names


@pytest.mark.slow
def test_reference_reachable_by_the_agent_is_detected(lab: Lab, tmp_path: Path) -> None:
    row = alone(lab, tmp_path, COPY, Kind.CHEAT)
    assert any("cheat copy-reference ended with PASS" in fault for fault in row.faults)


TRIED = """\
id: tried
instruction: i
roles: {%s: %s}
graph: [{id: a, %s}]
oracle: [{do: complete}]
limits: {steps: 40}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "node", "label"),
    [
        (Kind.CHEAT, "on: desktop, check: file_exists, with: {path: ~/x/y}", "cheat write-paths"),
        (Kind.CHEAT, "on: session, check: answer_equals, with: {expected: none}", "cheat guess-answers"),
        (Kind.TOUCH, "on: phone, check: app_in_front, with: {package: com.google.android.apps.tasks}", "touch everything"),
        (Kind.RANDOM, "on: phone, check: app_in_front, with: {package: com.google.android.apps.tasks}", "random"),
    ],
)  # fmt: skip
def test_each_cheat_detects_its_task(
    lab: Lab, tmp_path: Path, kind: Kind, node: str, label: str
) -> None:
    role = "phone" if "on: phone" in node else "desktop"
    row = alone(lab, tmp_path, TRIED % (role, role, node), kind)
    (fault,) = row.faults[:1]
    assert fault.startswith(f"{label} ended with PASS"), row.faults


SAME = """\
from pathlib import Path

from evaluators.decorators import evaluator


@evaluator(on="desktop")
def same_text(guest, first: str, second: str) -> bool:
    \"""Return whether two files hold the same text.

    Args:
        guest: the desktop.
        first: path of a file.
        second: path of another.
    \"""
    return Path(guest.path(first)).read_text() == Path(guest.path(second)).read_text()
"""


@pytest.mark.slow
def test_custom_check_of_two_files_is_tried_with_both_damaged(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "evaluators").mkdir()
    (tmp_path / "evaluators/same.py").write_text(SAME)
    node = "on: desktop, check: same_text, with: {first: ~/a, second: ~/b}"
    setup = "setup: [{on: desktop, do: put_file, with: {path: ~/a, content: a}}, {on: desktop, do: put_file, with: {path: ~/b, content: b}}]\n"
    row = alone(lab, tmp_path, TRIED % ("desktop", "desktop", node) + setup, Kind.CHEAT)
    assert any(fault.startswith("cheat overwrite-both ended with PASS") for fault in row.faults)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "old", "new", "fault"),
    [
        ("must fail", "echo three >", "echo one >", "must fail other-text ended with PASS"),
        ("must fail", "must_fail:\n  other-text:\n", "must_fail:\n  other-text:\n    - {on: desktop, do: click, at: {name: Nine}, seconds: 1}\n", "must fail other-text ended with FAIL (agent_error"),
        ("oracle", "echo one >", "echo two >", "oracle editor ended with FAIL"),
        ("oracle", '"cp /srv/notes/a notes/a', '"cp /srv/none notes/a', "oracle terminal ended with FAIL"),
        ("noop", 'content: "two', 'content: "one', "noop ended with INCONCLUSIVE (task_error"),
    ],
)  # fmt: skip
def test_unsound_task_is_detected(  # noqa: PLR0917
    lab: Lab, tmp_path: Path, kind: str, old: str, new: str, fault: str
) -> None:
    assert old in COPY
    row = alone(lab, tmp_path, COPY.replace(old, new), Kind(kind))
    assert any(fault in message for message in row.faults), row.faults


ORDERED = """\
id: ordered
instruction: i
roles: {desktop: desktop}
setup: [{on: desktop, do: put_file, with: {path: ~/%s, content: "x\\n"}}]
graph:
  - {id: first, on: desktop, %s}
  - {id: second, on: desktop, check: file_exists, with: {path: ~/b}, after: [first]}
oracles:
"""
FIRST_MADE = "check: file_exists, with: {path: ~/a}"
FIRST_REMOVED = "check: path_absent, with: {path: ~/b}, mode: once"
EARLY = "second was already met before its turn (after first) in every solution"


def ordered(folder: Path, lab: Lab, setup: str, first: str, *solutions: str) -> tuple[str, ...]:
    """Return the faults of a task of two nodes, each solution given as lines for a terminal."""
    task = ORDERED % (setup, first)
    for number, lines in enumerate(solutions):
        task += f"  way{number}:\n    - {{on: desktop, do: open_app, with: {{name: Terminal}}}}\n"
        for line in lines.split("\n"):
            task += f'    - {{on: desktop, do: type_text, with: {{text: "{line}\\n"}}}}\n'
    return alone(lab, folder, task, Kind.ORACLE).faults


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setup", "first", "solutions", "is_early"),
    [
        ("b", FIRST_MADE, ["echo one > a"], True),
        ("c", FIRST_MADE, ["echo one > b\necho one > a"], True),
        ("b", FIRST_MADE, ["echo one > a", "rm b\necho one > a\necho two > b"], False),
        ("c", FIRST_MADE, ["echo one > a\necho two > b"], False),
        ("b", FIRST_REMOVED, ["rm b\necho two > b"], False),
    ],
    ids=["at the start", "other order", "once earned", "right order", "undone and redone"],
)  # fmt: skip
def test_node_that_is_met_before_its_turn_is_a_fault(
    lab: Lab, tmp_path: Path, setup: str, first: str, solutions: list[str], *, is_early: bool
) -> None:
    faults = ordered(tmp_path, lab, setup, first, *solutions)
    assert any(fault.startswith(EARLY) for fault in faults) is is_early, faults
    assert len(faults) == 1 + is_early, faults  # too few attempts without doing it


def test_attempts_that_died_are_no_evidence(lab: Lab, tmp_path: Path) -> None:
    task = "id: answer\ninstruction: i\nroles: {phone: phone}\n"
    task += "graph: [{id: a, on: session, check: answer_equals, with: {expected: x}}]\n"
    task += "oracle: [{do: submit, with: {answer: x}}]\nlimits: {steps: 1}\n"
    row = alone(lab, tmp_path, task, Kind.ORACLE, Kind.NOOP, Kind.CHEAT)
    shown = {attempt.label: attempt.meaning for attempt in row.attempts}
    assert shown["cheat guess-answers"] is Meaning.EVIDENCE
    lost = replace(row.attempts[0].result, verdict=Verdict.FAIL, reason=Reason.AGENT_ERROR)
    died = Attempt(Kind.FOREIGN, "other", "run", lost)
    assert (died.meaning, died.fault) == (Meaning.NO_EVIDENCE, "")
    few = Validation("answer", (*row.attempts[:2], died))
    assert any("only 0 attempts without doing it" in fault for fault in few.faults)


@pytest.mark.slow
def test_machine_failure_is_retried_and_no_fault_of_the_task(lab: Lab, tmp_path: Path) -> None:
    with lab.fleet.acquire({"desktop": ResourceSpec(DESKTOP)}):
        faults = lab.fleet.machines[DESKTOP, 0].faults
    faults.add("input", LinkTimeoutError("no reply"), effect=faults.clear)
    row = alone(lab, tmp_path, COPY, Kind.ORACLE)
    assert [attempt.result.verdict for attempt in row.attempts] == [Verdict.PASS] * 2


def test_wrong_task_is_stopped_early_and_reported_once(lab: Lab, tmp_path: Path) -> None:
    row = alone(lab, tmp_path, COPY.replace('content: "two', 'content: "one'))
    assert [attempt.label for attempt in row.attempts] == ["oracle terminal", "noop"]
    (fault,) = row.faults
    assert "equal is met before the agent acts" in fault
    assert fault.endswith("(likewise: noop)")


def test_failing_solution_names_its_step(lab: Lab, tmp_path: Path) -> None:
    step = "  terminal:\n    - {on: desktop, do: click, at: {name: Nine}, seconds: 1}\n"
    row = alone(lab, tmp_path, COPY.replace("  terminal:\n", step), Kind.ORACLE)
    (fault,) = [fault for fault in row.faults if "oracle terminal" in fault]
    assert "step 1 of 3, click on desktop: No element" in fault


@pytest.mark.slow
def test_each_attempt_is_reported_and_kept_on_interruption(lab: Lab, tmp_path: Path) -> None:
    alone(lab, tmp_path, COPY, Kind.NOOP)
    attempts: list[Attempt] = []

    def interrupt(attempt: Attempt) -> None:
        attempts.append(attempt)
        if attempt.name == "editor":
            raise KeyboardInterrupt

    validator = Validator(lab.suite, lab.fleet, lab.folder, lab.clock, ignore, on_attempt=interrupt)
    rounds = [planned for planned in validator.plan() if planned.kind in {Kind.ORACLE, Kind.NOOP}]
    with pytest.raises(KeyboardInterrupt):
        validator.run(rounds)
    (row,) = validator.partial_validations(attempts)
    assert [attempt.line for attempt in row.attempts] == [
        "back-up.0: oracle terminal: PASS (success, 1/1 nodes): as it should be",
        "back-up.0: oracle editor: PASS (success, 1/1 nodes): as it should be",
        "back-up.0: noop: FAIL (false_completion, 0/1 nodes): as it should be",
    ]


@pytest.mark.slow
def test_parallel_rounds_show_the_same(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(f"{COPY}legitimate: [copy-reference, overwrite-both]\n")
    index = 'name: mine\nversion: "1"\ndescription: d\ntasks: [task.yaml]\n'
    (tmp_path / "suite.yaml").write_text(index)
    lab.suite = open_suite(str(tmp_path))
    running, most = set[str](), [0]

    def watch(event: TrialEvent) -> None:
        if isinstance(event, TrialStarted):
            running.add(threading.current_thread().name)
            most[0] = max(most[0], len(running))

    def leave(attempt: Attempt) -> None:
        del attempt
        running.discard(threading.current_thread().name)

    alone, together = (
        Validator(
            lab.suite, lab.fleet, lab.folder, lab.clock, ignore, watch, leave, parallel=parallel
        )
        for parallel in (1, 3)
    )
    (row,) = alone.run(alone.plan())
    assert most == [1]
    (same,) = together.run(together.plan())
    assert most == [3]
    shown = [(attempt.label, attempt.meaning) for attempt in row.attempts]
    assert [(attempt.label, attempt.meaning) for attempt in same.attempts] == shown
