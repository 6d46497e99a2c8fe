from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver
from controller.planning import specify_run, suite_for
from controller.selection import choose_tasks, with_limits
from controller.specification.agent import CustomSpec, Member, OracleSpec
from controller.specification.run import LimitsSpec
from controller.store.estimate import estimate
from controller.store.runs import Store
from evaluators.model.platforms import platform_of
from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from tests.unit.controller.lab import Lab


@pytest.mark.parametrize(
    ("patterns", "tags", "chosen"),
    [
        ([], [], ("dark-style", "write-file", "two-apps", "answer")),
        (["answer", "w*"], [], ("write-file", "answer")),
        ([], ["easy"], ("dark-style", "answer")),
        (["*e"], ["easy", "hard"], ("dark-style",)),
    ],
)
def test_tasks_are_selected_by_name_pattern_and_tag(
    lab: Lab, patterns: list[str], tags: list[str], chosen: tuple[str, ...]
) -> None:
    first, second, third, last = lab.suite.tasks
    easy = [task.model_copy(update={"tags": ("easy",)}) for task in (first, last)]
    hard = third.model_copy(update={"tags": ("hard",)})
    suite = replace(lab.suite, tasks=(easy[0], second, hard, easy[1]))
    assert choose_tasks(suite, patterns, tags) == chosen


def test_selection_without_a_match_is_rejected(lab: Lab) -> None:
    with pytest.raises(UnknownNameError, match="'answer'"):
        choose_tasks(lab.suite, ["anser"])
    with pytest.raises(UsageError, match="matches 'z"):
        choose_tasks(lab.suite, ["z*"])
    with pytest.raises(UsageError, match="No task of tiny has tags"):
        choose_tasks(lab.suite, [], ["easy"])
    tagged = lab.suite.tasks[0].model_copy(update={"tags": ("easy",)})
    with pytest.raises(UnknownNameError, match="tag"):
        choose_tasks(replace(lab.suite, tasks=(tagged,)), [], ["hard"])


def test_tasks_are_selected_by_platform_and_subset(lab: Lab) -> None:
    first, second, third, last = lab.suite.tasks
    suite = replace(lab.suite, subsets={"some": (last.id, third.id, first.id)})
    platforms = {task.id: platform_of(task.kinds.values()) for task in suite.tasks}
    assert set(platforms.values()) == {"desktop", "phone", "cross"}
    both = tuple(name for name, platform in platforms.items() if platform == "cross")
    assert choose_tasks(suite, platforms=["cross"]) == both
    assert choose_tasks(suite, platforms=["cross", "desktop", "phone"]) == tuple(platforms)
    assert choose_tasks(suite, subset="some") == (last.id, third.id, first.id)
    assert choose_tasks(suite, [first.id, last.id], subset="some") == (last.id, first.id)
    with pytest.raises(UsageError, match="matches all of --task, --platform"):
        choose_tasks(suite, [second.id], platforms=["other"])
    with pytest.raises(UnknownNameError, match="platform"):
        choose_tasks(suite, platforms=["across"])
    with pytest.raises(UnknownNameError, match="Did you mean 'some'"):
        choose_tasks(suite, subset="sme")


def test_limits_of_a_run_are_stored_and_kept_on_resume(lab: Lab) -> None:
    limits = LimitsSpec(steps=1, seconds=9.0)
    limited = with_limits(lab.suite, limits)
    spec = specify_run(limited, OracleSpec(), limits=limits, clock=lab.clock)
    run = Store(lab.folder).create(spec)
    plain = specify_run(lab.suite, OracleSpec(), clock=lab.clock)
    assert run.spec.digest != plain.digest
    assert run.spec.tasks[0].differences(plain.tasks[0]) == ("limits",)
    resumed = suite_for(run.spec, lab.suite)
    assert resumed == limited
    lab.use(OracleDriver())
    lab.trials = replace(lab.trials, suite=resumed)
    assert {(result.task, result.steps) for result in lab.go(run)} >= {
        ("dark-style", 1),
        ("two-apps", 1),
    }


def test_estimate_uses_earlier_runs(lab: Lab) -> None:
    store = Store(lab.folder)
    spec = specify_run(lab.suite, CustomSpec(name="test"), repeats=3)
    spec = spec.model_copy(update={"fleet": "fake"})
    unknown = estimate(spec, lab.suite, store, parallel=2)
    assert (unknown.trials, unknown.machines) == (12, {"desktop": 2, "phone": 2})
    assert (unknown.seconds, unknown.tokens, unknown.usd) == (None, None, None)
    lab.go(lab.begin(AgentDriver(NoopAgent), "answer", "write-file"))
    known = estimate(spec, lab.suite, store, parallel=2)
    results = [result for name in store.names() for result in store.open(name).results()]
    mean = sum(result.seconds for result in results) / 2
    assert known.seconds == pytest.approx(mean * 4 * 3 / 2)
    assert (known.tokens, known.usd, known.trials_known) == (0, 0, 2)
    assert known.tasks_unknown == ("dark-style", "two-apps")
    other = spec.model_copy(update={"agents": (Member(agent=CustomSpec(name="other")),)})
    assert estimate(other, lab.suite, store, parallel=1).seconds is None
    real = estimate(spec.model_copy(update={"fleet": "real"}), lab.suite, store, parallel=1)
    assert (real.seconds, real.fleet, real.runs) == (None, "real", ())
    assert "on this suite on real machines" in real.lines()[-1]
    assert "earlier runs on fake machines" in known.lines()[-1]


def test_estimate_uses_runs_of_the_latest_accelerator_only(lab: Lab) -> None:
    names = []
    for accelerator in ("kvm", "tcg", "tcg"):
        run = lab.begin(AgentDriver(NoopAgent), "answer")
        (result,) = lab.go(run)
        machines = [
            replace(machine, backend="qemu", accelerator=accelerator) for machine in result.machines
        ]
        path = next((lab.folder / run.spec.run).rglob("*.jsonl"))
        path.write_text(
            path.read_text()
            .replace('"fake"', '"qemu"')
            .replace('"accelerator":"none"', f'"accelerator":"{machines[0].accelerator}"')
        )
        names.append(run.spec.run)
    spec = specify_run(lab.suite, CustomSpec(name="test"), tasks=("answer",))
    estimation = estimate(spec, lab.suite, Store(lab.folder), parallel=1)
    assert (set(estimation.runs), estimation.accelerator) == (set(names[1:]), "tcg")
