from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from controller.comparison.comparison import Difference, compare_runs
from controller.episode.result import TRIAL_RESULT, MachineRecord, MemberShare, Reason, TrialResult
from controller.models.usage import NO_USAGE, Usage
from controller.specification.agent import MEMBER, Member, ModelSpec
from controller.specification.observation import ObservationSpec
from controller.specification.run import CodeSpec, RunSpec, SuiteSpec, TaskSpec
from controller.store.runs import Store
from evaluators.graph.outcome import Verdict
from foundation.errors import UsageError
from tests.unit.controller.jobs import next_job
from tests.unit.controller.store.test_runs import CLOCK

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from controller.store.runs import RunFolder

MACHINE = MachineRecord("desktop", "d-1", "desktop", "fake", "desktop:1", "a" * 64, "tcg")


def task(name: str, **changes: object) -> TaskSpec:
    parts = {part: f"{name}-{part}" for part in ("text", "machines", "setup", "graph", "limits")}
    evaluators = {"desktop.exists": "1", "phone.shown": "2"}
    return TaskSpec.model_validate({"id": name, **parts, "evaluators": evaluators, **changes})


TASKS = tuple(task(name) for name in "abcd")
SPEC = RunSpec(
    run="first",
    started_s=1.0,
    suite=SuiteSpec(name="tiny", version="1", digest="d" * 64),
    agents=(Member(agent=ModelSpec(model="small", endpoint="http://host/v1", prompt_digest="p")),),
    tasks=TASKS,
    repeats=1,
    images={"desktop": "r" * 64},
    code=CodeSpec(version="1", commit="c" * 40),
)


def record(
    root: Path,
    spec: RunSpec,
    passed: str,
    accelerator: str = "tcg",
    usages: Mapping[str, Usage] | None = None,
) -> RunFolder:
    """Record a run in which the named tasks passed and the others failed."""
    folder = Store(root).create(spec)
    machine = replace(MACHINE, accelerator=accelerator)
    for name, repeat in spec.planned:
        verdict = Verdict.PASS if name in passed else Verdict.FAIL
        met = int(verdict is Verdict.PASS)
        result = TrialResult(
            name, repeat, verdict, Reason.SUCCESS, met, 1, 1, 1.0, machines=(machine,)
        )
        share = MemberShare((usages or {}).get(name, NO_USAGE))
        result = replace(result, members={MEMBER: share})
        with folder.begin_attempt(next_job(folder, name, repeat), CLOCK) as log:
            log.append("end", result=TRIAL_RESULT.dump_python(result, mode="json"), graph=None)
    return folder


def other(**changes: object) -> RunSpec:
    return SPEC.model_copy(update={"run": "second", **changes})


def test_comparison_lists_differences(tmp_path: Path) -> None:
    agent = ModelSpec(model="large", endpoint="http://host/v1", prompt_digest="q")
    spec = other(agents=(Member(agent=agent),), observation=ObservationSpec(trees=True))
    comparison = compare_runs(record(tmp_path, SPEC, "a"), record(tmp_path, spec, "abc"))
    assert comparison.differences == (
        Difference("agent.model", "small", "large"),
        Difference("agent.prompt_digest", "p", "q"),
        Difference("observation.trees", False, True),
    )
    assert comparison.tasks == ("a", "b", "c", "d")
    assert (comparison.left_out, comparison.warnings) == ({}, ())
    assert comparison.success_rate.difference == pytest.approx(0.5)
    low, high = comparison.success_rate.interval or (None, None)
    assert (low, high) == (0.0, 1.0)
    assert comparison.to_dict()["SR"] == comparison.success_rate.to_dict()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"text": "x"}, "differs in: text"),
        ({"machines": "x"}, "differs in: machines"),
        ({"setup": "x"}, "differs in: setup"),
        ({"graph": "x", "limits": "y"}, "differs in: graph, limits"),
        ({"evaluators": {"phone.shown": "2"}}, "differs in: evaluator desktop.exists"),
        (
            {"evaluators": {"desktop.exists": "9", "phone.shown": "2"}},
            "differs in: evaluator desktop.exists",
        ),
    ],
)
def test_changed_task_is_excluded_by_name(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    spec = other(tasks=(task("a", **change), *TASKS[1:]))
    comparison = compare_runs(record(tmp_path, SPEC, ""), record(tmp_path, spec, "a"))
    assert comparison.left_out == {"a": reason}
    assert comparison.tasks == ("b", "c", "d")
    assert comparison.success_rate.difference == 0.0
    assert comparison.success_rate.tasks == 3


def test_tasks_of_one_run_only_are_excluded_by_name(tmp_path: Path) -> None:
    spec = other(tasks=(*TASKS[1:], task("e")))
    comparison = compare_runs(record(tmp_path, SPEC, ""), record(tmp_path, spec, ""))
    assert comparison.left_out == {"a": "only in first", "e": "only in second"}


def test_runs_without_a_comparable_task_are_rejected_with_reasons(
    tmp_path: Path,
) -> None:
    second = Store(tmp_path).create(other())
    with pytest.raises(UsageError, match="no comparable task") as caught:
        compare_runs(record(tmp_path, SPEC, "a"), second)
    assert caught.value.details.splitlines() == [
        f"{name}: no conclusive trial in second" for name in "abcd"
    ]


def test_recipe_accelerator_and_code_changes_warn_or_are_rejected(
    tmp_path: Path,
) -> None:
    code = CodeSpec(version="1", commit="e" * 40, is_modified=True)
    spec = other(images={"desktop": "s" * 64, "phone": "t" * 64}, code=code)
    first, second = record(tmp_path, SPEC, "a"), record(tmp_path, spec, "a", accelerator="kvm")
    comparison = compare_runs(first, second)
    assert comparison.warnings == (
        "image recipe of desktops: rrrrrrrrrrrr, ssssssssssss",
        "image recipe of phones: unknown, tttttttttttt",
        "accelerator: tcg, kvm",
        "code: 1 (cccccccccccc), 1 (eeeeeeeeeeee, modified)",
    )
    assert len(comparison.tasks) == 4
    with pytest.raises(UsageError, match="same conditions") as caught:
        compare_runs(first, second, strict=True)
    assert caught.value.details.splitlines() == list(comparison.warnings)
    assert compare_runs(first, first, strict=True).tasks == ("a", "b", "c", "d")


def test_runs_of_different_suites_are_rejected(tmp_path: Path) -> None:
    suite = SuiteSpec(name="other", version="1", digest="d" * 64)
    with pytest.raises(UsageError, match="different suites"):
        compare_runs(record(tmp_path, SPEC, ""), record(tmp_path, other(suite=suite), ""))
