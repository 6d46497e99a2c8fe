from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from rich.console import Console

from appliance.cli.trials_table import trials_table
from controller.episode.changes import Change, SideEffects
from controller.episode.result import MachineRecord, MemberShare, Reason, TrialResult
from controller.models.usage import Usage
from controller.specification.agent import MEMBER, CustomSpec, Member, ModelSpec
from controller.specification.run import CodeSpec, RunSpec, SuiteSpec, TaskSpec, trial_seed
from controller.store.report import Report
from controller.store.unfinished import Unfinished
from evaluators.graph.feedback import Feedback
from evaluators.graph.outcome import Verdict
from evaluators.graph.state import NodeState
from provisioning.protocols import StateKind

if TYPE_CHECKING:
    from provisioning.protocols import Json


def shared(usage: Usage) -> dict[str, MemberShare]:
    return {MEMBER: MemberShare(usage)}


SPEC = RunSpec(
    run="run-1",
    started_s=1.0,
    suite=SuiteSpec(name="smoke", version="1", digest="d" * 64),
    agents=(Member(agent=CustomSpec(name="model")),),
    tasks=(TaskSpec(id="a"), TaskSpec(id="b")),
    repeats=2,
    code=CodeSpec(version="0"),
)
DESKTOP = MachineRecord(
    "desktop", "d-1", "desktop", "libvirt", "desktop:debian-12", "a" * 64, "tcg"
)
PHONE = MachineRecord("phone", "p-1", "phone", "reference-phone", "phone:1", "b" * 64, "none")
PASSED = TrialResult(
    "a", 0, Verdict.PASS, Reason.SUCCESS, 2, 2, 4, 10.0, shared(Usage(90, 10)), "", (DESKTOP, PHONE)
)
FAILED = TrialResult(
    "b",
    0,
    Verdict.FAIL,
    Reason.STEP_LIMIT,
    1,
    2,
    2,
    5.0,
    shared(Usage(50, 0)),
    "",
    (DESKTOP,),
    (
        Feedback(
            "saved",
            NodeState.ACTIVE,
            "Not yet satisfied: a file is there.",
            ('file_exists(on=pc, path="~/a")',),
        ),
    ),
)
WHY = {
    "node": "saved",
    "state": "active",
    "why": "Not yet satisfied: a file is there.",
    "checks": ('file_exists(on=pc, path="~/a")',),
}
BROKEN = TrialResult(
    "a", 1, Verdict.INCONCLUSIVE, Reason.ENVIRONMENT_ERROR, 0, 2, 0, 1.0, detail="[no] reply"
)
REPORT = Report(SPEC, (PASSED, FAILED, BROKEN), (Unfinished("b", 1, 3),))


def printed(report: Report) -> str:
    out = io.StringIO()
    console = Console(file=out, width=140)
    console.print(trials_table(report))
    console.print(report.summary(), markup=False)
    return out.getvalue()


def test_json_has_the_documented_keys() -> None:
    report_json = REPORT.to_dict()
    assert report_json["run"] == "run-1"
    assert report_json["suite"] == {"name": "smoke", "digest": "d" * 64}
    assert (report_json["agent"], report_json["model"], report_json["seed"]) == ("model", None, 0)
    asking = ModelSpec(model="small", endpoint="http://host/v1")
    asked = replace(
        REPORT, spec=SPEC.model_copy(update={"agents": (Member(agent=asking),)})
    ).to_dict()
    assert (asked["agent"], asked["model"]) == ("model:small", "small")
    assert asked["agents"] == [{"name": "agent", "agent": "model:small", "model": "small"}]
    assert report_json["accelerator"] == "tcg"
    assert report_json["verdicts"] == {"PASS": 1, "FAIL": 1, "INCONCLUSIVE": 1}
    assert report_json["trials"] == [
        {
            "task": task,
            "repeat": repeat,
            "verdict": verdict,
            "nodes_met": met,
            "nodes": 2,
            "steps": steps,
            "reason": reason,
            "detail": detail,
            "seconds": seconds,
            "agent_seconds": 0.0,
            "usage": usage,
            "members": {
                "agent": {
                    "steps": 0,
                    "agent_seconds": 0.0,
                    "usage": usage,
                    "refused": {},
                    "tool_calls": 0,
                    "distractor_calls": 0,
                    "turns": 0,
                    "met": [],
                }
            }
            if any(tokens)
            else {},
            "ended_by": None,
            "tools_offered": 0,
            "seed": trial_seed(0, task, repeat),
            "unmet": unmet,
            "attempts": 1,
            "earlier": [],
            "side_effects": None,
            "parameters": {},
            "weighted": None,
            "disagreements": [],
            "pressed": [],
            "regrades": [],
        }
        for task, repeat, verdict, met, steps, reason, seconds, unmet, detail, tokens in (
            ("a", 0, "PASS", 2, 4, "success", 10.0, [], "", (90, 10)),
            ("b", 0, "FAIL", 1, 2, "step_limit", 5.0, [WHY], "", (50, 0)),
            ("a", 1, "INCONCLUSIVE", 0, 0, "environment_error", 1.0, [], "[no] reply", (0, 0)),
        )
        for kind in (None if any(tokens) else 0,)
        for usage in (
            {
                "prompt": tokens[0],
                "completion": tokens[1],
                "cached": kind,
                "reasoning": kind,
                "usd": 0.0,
                "is_known": True,
            },
        )
    ]
    assert report_json["unfinished"] == [
        {"task": "b", "repeat": 1, "steps": 3, "nodes_met": None, "unmet": []}
    ]


def test_use_of_tools_and_refused_calls_are_summed_up() -> None:
    share = MemberShare(steps=4, tool_calls=2, distractor_calls=1, refused={"off_screen": 1})
    first = replace(REPORT.trials[0], members={"agent": share}, tools_offered=3)
    second = replace(first, members={"agent": MemberShare(steps=4, refused={"off_screen": 2})})
    report = replace(REPORT, trials=(first, second, REPORT.trials[1]))
    assert report.to_dict()["tools"] == {
        "trials": 2,
        "with_calls": 1,
        "invocation_rate": 0.5,
        "calls": 2,
        "distractor_calls": 1,
        "share_of_steps": 0.25,
    }
    assert "tools were called in 1 of 2 trials" in report.summary()
    assert "refused calls: 3 off_screen" in report.summary()
    assert REPORT.to_dict()["tools"]["invocation_rate"] is None  # type: ignore[index, call-overload]


def test_inconclusive_trials_enter_no_metric() -> None:
    metrics = REPORT.to_dict()["metrics"]
    assert isinstance(metrics, dict)
    assert {name: metrics[name] for name in ("SR", "SR_95", "SR_bounds", "CR", "EE", "CE")} == {
        "SR": 0.5,
        "SR_95": pytest.approx([0.0546, 0.9454], abs=1e-4),
        "SR_bounds": [0.25, 0.5],
        "CR": 0.75,
        "EE": pytest.approx(0.25),
        "CE": pytest.approx((1 / 100 + 0.5 / 50) / 2),
    }


def test_side_effects_are_listed_with_their_rate() -> None:
    change = Change("desktop", StateKind.FILE, "~/made", "added")
    dirty = replace(PASSED, side_effects=SideEffects(1, (change,), has_baseline=True))
    clean = replace(FAILED, side_effects=SideEffects(0, (), has_baseline=False))
    report = Report(SPEC, (dirty, clean, BROKEN), ())
    report_json = report.to_dict()
    assert report_json["side_effects"] == {
        "trials": 2,
        "with_side_effects": 1,
        "rate": 0.5,
        "with_baseline": 1,
    }
    (first, *_) = cast("list[dict[str, Json]]", report_json["trials"])
    assert first["side_effects"] == {
        "count": 1,
        "changes": ({"role": "desktop", "kind": "file", "name": "~/made", "change": "added"},),
        "has_baseline": True,
    }
    assert "1 of 2 trials had side effects" in printed(report)
    assert f"{dirty.task}.0 side effect: desktop file ~/made added" in printed(report)
    assert "side effects" not in printed(REPORT)


@pytest.mark.parametrize(
    ("folder", "shown"), [("", "smoke"), ("/srv/my suites/smoke", "'/srv/my suites/smoke'")]
)
def test_command_for_a_baseline_names_the_suite_as_run_accepts_it(folder: str, shown: str) -> None:
    change = Change("desktop", StateKind.FILE, "~/made", "added")
    dirty = replace(PASSED, side_effects=SideEffects(1, (change,), has_baseline=False))
    suite = SPEC.suite.model_copy(update={"folder": folder})
    spec = SPEC.model_copy(update={"suite": suite})
    text = " ".join(printed(Report(spec, (dirty,), ())).split())
    assert f"(run: mesocosm run {shown} --agent noop)" in text


def test_reference_phone_is_marked_and_machines_are_listed() -> None:
    text = printed(REPORT)
    assert "phone: reference phone" in text
    assert "not scores on Android" in text
    assert "desktop:debian-12" in text
    assert "tcg" in text
    machines = REPORT.to_dict()["machines"]
    assert isinstance(machines, list)
    assert [m["is_reference_phone"] for m in machines if isinstance(m, dict)] == [False, True]


def test_table_has_interval_bounds_and_unfinished_trials() -> None:
    text = printed(REPORT)
    assert "SR 50.0% (95 % interval over 2 tasks: 5.5% to 94.5%)" in text
    assert "SR with inconclusive trials counted as FAIL 25.0%, as PASS 50.0%" in text
    assert "unfinished" in text
    assert "a.1: [no] reply" in text


def test_table_describes_agent_and_model_errors() -> None:
    raised = replace(FAILED, reason=Reason.MODEL_REFUSAL, detail="It raised.\nmine.py:7, in act")
    text = printed(replace(REPORT, trials=(raised,)))
    assert "b.0: It raised.\nmine.py:7, in act" in text
    assert "limit was" not in printed(
        replace(REPORT, trials=(replace(FAILED, detail="limit was"),))
    )


def test_table_explains_unmet_nodes() -> None:
    waiting = Feedback("sent", NodeState.WAITING, "Counts only after saved.")
    unfinished = Unfinished("b", 1, 3, 1, (waiting,))
    text = printed(replace(REPORT, unfinished=(unfinished,)))
    assert "b.0 saved: Not yet satisfied: a file is there." in text
    assert "b.1 sent: Counts only after saved." in text
    assert "1/2" in next(line for line in text.splitlines() if "unfinished" in line)


def test_report_without_trials_can_be_shown() -> None:
    empty = Report(SPEC, (), ())
    metrics = empty.to_dict()["metrics"]
    assert isinstance(metrics, dict)
    assert [metrics[name] for name in ("SR", "SR_95", "CR", "EE", "CE")] == [None] * 5
    assert empty.accelerator is None
    assert "0 PASS" in printed(empty)


def test_several_accelerators_are_all_listed() -> None:
    other = replace(PASSED, machines=(replace(DESKTOP, accelerator="kvm"),))
    assert Report(SPEC, (PASSED, other), ()).accelerator == "kvm+tcg"
