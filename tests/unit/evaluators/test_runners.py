from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from evaluators.bundle import Bundle, desktop_bundle
from evaluators.catalogue import builtin_evaluators, tools_of
from evaluators.decorators import evaluator
from evaluators.graph.outcome import Call, Cause, Outcome, match_outcomes
from evaluators.runners import BundleRunner, HostRunner, phone_runner, session_runner
from evaluators.schema import describe
from evaluators.testing.shell import TableShell
from foundation.clock import FakeClock
from foundation.errors import (
    EvaluationError,
    GuestCallError,
    LinkClosedError,
    LinkTimeoutError,
    MachineError,
    ObstructedEvaluationError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foundation.process import CommandResult
    from provisioning.protocols import Json

BUNDLE = Bundle("d" * 64, {"evaluators": '"""Doc."""'})


@evaluator(on="session")
def is_more(session: int, than: int = 0) -> bool:
    """Return whether the subject is more.

    Args:
        session: a number.
        than: another number.
    """
    return session > than


@evaluator(on="session")
def breaks(session: int) -> bool:
    """Raise."""
    raise ZeroDivisionError("by nought")


@evaluator(on="session")
def mumbles(session: int) -> bool:
    """Return something that is not a bool."""
    return 1  # type: ignore[return-value]


TOOLS = {function.__name__: describe(function) for function in (is_more, breaks, mumbles)}


def test_wave_continues_when_one_evaluator_raises() -> None:
    runner = HostRunner(TOOLS, lambda _: 5)
    calls = [
        Call("a", "breaks"),
        Call("b", "is_more", {"than": 4}),
        Call("c", "is_more", {"than": 5}),
        Call("d", "mumbles"),
        Call("e", "is_more", {"than": "4"}),
        Call("f", "is_moer"),
    ]
    outcomes = {outcome.node: outcome for outcome in runner.evaluate(calls, timeout_s=1)}
    assert {name: outcome.met for name, outcome in outcomes.items()} == {
        "a": None, "b": True, "c": False, "d": None, "e": None, "f": None,
    }  # fmt: skip
    assert outcomes["a"].reason == "breaks raised ZeroDivisionError: by nought"
    assert "not a bool" in outcomes["d"].reason
    assert "than" in outcomes["e"].reason
    assert "is_moer" in outcomes["f"].reason


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (LinkClosedError("The link is closed."), Cause.MACHINE),
        (LinkTimeoutError("No reply."), Cause.MACHINE),
        (MachineError("It is gone."), Cause.MACHINE),
        (GuestCallError("It answered with an error."), Cause.OBSTRUCTION),
        (EvaluationError("It cannot decide."), Cause.EVALUATOR),
        (ObstructedEvaluationError("The original is gone."), Cause.OBSTRUCTION),
        (ZeroDivisionError(), Cause.EVALUATOR),
    ],
    ids=lambda value: type(value).__name__,
)
def test_undecided_outcome_distinguishes_machines_from_evaluators(
    error: Exception, cause: Cause
) -> None:
    @evaluator(on="session")
    def fails(session: int) -> bool:
        """Return nothing."""
        raise error

    calls = [Call("a", "fails")]
    outcomes = HostRunner({"fails": describe(fails)}, lambda _: 5).evaluate(calls, timeout_s=1)
    assert match_outcomes(calls, outcomes)[0].cause is cause


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (LinkClosedError("The link is closed."), Cause.MACHINE),
        (GuestCallError("The probe answered with an error."), Cause.EVALUATOR),
    ],
    ids=lambda value: type(value).__name__,
)
def test_guest_wave_distinguishes_machines_from_evaluators(error: Exception, cause: Cause) -> None:
    class Failing:
        def call(self, op: str, params: object = None, *, timeout_s: float = 1.0) -> Json:
            raise error

    runner = BundleRunner(Failing(), BUNDLE)  # type: ignore[arg-type]
    assert [row.cause for row in runner.evaluate([Call("a", "c")], timeout_s=1)] == [cause]


def test_each_wave_gets_a_new_subject_and_its_own_timeout() -> None:
    times: list[float] = []

    def subject(timeout_s: float) -> int:
        times.append(timeout_s)
        return len(times)

    runner = HostRunner(TOOLS, subject)
    waves = [runner.evaluate([Call("a", "is_more", {"than": 1})], timeout_s=t) for t in (3, 4)]
    assert [wave[0].met for wave in waves] == [False, True]
    assert times == [3, 4]


def test_phone_runner_reads_the_phone_once_per_wave() -> None:
    shell = TableShell()
    shell.resume("a.b/.C")
    runner = phone_runner(shell, builtin_evaluators()["phone"])
    calls = [Call(name, "app_in_front", {"package": name}) for name in ("a.b", "a.c")]
    assert list(runner.evaluate(calls, timeout_s=5)) == [
        Outcome("a.b", True),
        Outcome("a.c", False),
    ]
    assert len(shell.asked) == 1
    runner.evaluate(calls, timeout_s=5)
    assert len(shell.asked) == 2


def test_lost_phone_is_inconclusive_with_the_reason() -> None:
    class Lost:
        def run(self, argv: Sequence[str], **_: object) -> CommandResult:
            raise LinkClosedError("adb: device offline")

    clock = FakeClock()
    outcome = phone_runner(Lost(), builtin_evaluators()["phone"], clock=clock).evaluate(
        [Call("a", "app_in_front", {"package": "x"})], timeout_s=5
    )
    assert outcome[0].met is None
    assert "device offline" in outcome[0].reason


def test_session_runner_sees_a_later_answer() -> None:
    @dataclass
    class Session:
        answer: str | None = None

    session = Session()
    runner = session_runner(session, builtin_evaluators()["session"])
    calls = [Call("a", "answer_equals", {"expected": "7"})]
    assert runner.evaluate(calls, timeout_s=1)[0].met is False
    session.answer = "7"
    assert runner.evaluate(calls, timeout_s=1)[0].met is True


# --- the runner of the guest's probe ---


@dataclass
class Probe:
    """The peer of a link: stores bundles, answers every call by `met`."""

    met: bool | None = True
    known: set[str] = field(default_factory=set)
    ops: list[str] = field(default_factory=list)
    reply: Json = None
    trouble: Exception | None = None

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        self.ops.append(op)
        assert params is not None
        if self.trouble:
            raise self.trouble
        if op == "bundle":
            self.known.add(str(params["digest"]))
            return {"loaded": True}
        if params["bundle"] not in self.known:
            raise GuestCallError("unknown_bundle")
        if self.reply is not None:
            return self.reply
        calls: Any = params["calls"]
        return [{"node": call["node"], "met": self.met, "reason": "r"} for call in calls]

    def close(self) -> None:
        pass


CALLS = [Call("a", "file_exists", {"path": "/x"}), Call("b", "file_exists", {"path": "/y"})]


def test_bundle_is_loaded_once_and_a_wave_is_one_request() -> None:
    probe = Probe()
    runner = BundleRunner(probe, BUNDLE)
    for _ in range(2):
        assert [outcome.met for outcome in runner.evaluate(CALLS, timeout_s=5)] == [True, True]
    assert probe.ops == ["bundle", "evaluate", "evaluate"]


def test_rewound_probe_gets_the_bundle_again() -> None:
    probe = Probe()
    runner = BundleRunner(probe, BUNDLE)
    runner.evaluate(CALLS, timeout_s=5)
    probe.known.clear()
    assert runner.evaluate(CALLS, timeout_s=5)[0].met is True
    assert probe.ops == ["bundle", "evaluate", "evaluate", "bundle", "evaluate"]


@pytest.mark.parametrize(
    "trouble", [LinkTimeoutError("no reply"), LinkClosedError("gone"), GuestCallError("broken")]
)
def test_link_failure_is_inconclusive_and_never_unmet(trouble: Exception) -> None:
    probe = Probe(trouble=trouble)
    outcomes = BundleRunner(probe, BUNDLE).evaluate(CALLS, timeout_s=5)
    assert [(outcome.node, outcome.met) for outcome in outcomes] == [("a", None), ("b", None)]
    assert str(trouble) in outcomes[0].reason


@pytest.mark.parametrize(
    "reply",
    ["yes", [1], [{"node": "a", "met": "true"}], [{"node": "a"}], [{"node": "a", "met": 1}], {}],
)
def test_malformed_reply_is_inconclusive(reply: Json) -> None:
    outcomes = BundleRunner(Probe(reply=reply), BUNDLE).evaluate(CALLS, timeout_s=5)
    assert [outcome.met for outcome in outcomes] == [None, None]


def test_reasons_of_the_guest_are_passed_on() -> None:
    outcomes = BundleRunner(Probe(met=None), BUNDLE).evaluate(CALLS, timeout_s=5)
    assert list(outcomes) == [Outcome(name, None, "r", Cause.EVALUATOR) for name in ("a", "b")]


def test_code_and_not_the_message_of_the_guest_determines_the_cause() -> None:
    message = "a raised PermissionError: denied"
    rows: Json = [
        {"node": "a", "met": None, "reason": message, "code": "raised"},
        {"node": "b", "met": None, "reason": "whatever", "code": "obstructed"},
    ]
    outcomes = BundleRunner(Probe(reply=rows), BUNDLE).evaluate(CALLS, timeout_s=5)
    assert list(outcomes) == [
        Outcome("a", None, message, Cause.EVALUATOR),
        Outcome("b", None, "whatever", Cause.OBSTRUCTION),
    ]


def test_no_evaluator_starts_after_the_time_limit_of_the_wave() -> None:
    clock = FakeClock()

    def is_slow(session: int) -> bool:
        """Return whether it is slow, slowly."""
        clock.advance(4)
        return True

    tools = {"is_slow": describe(evaluator(on="session")(is_slow))}
    runner = HostRunner(tools, lambda _: 5, clock=clock)
    rows = runner.evaluate([Call(name, "is_slow") for name in "abc"], timeout_s=5)
    assert [row.met for row in rows] == [True, True, None]
    assert rows[2].reason == "the time limit of the wave, 5 s, expired before is_slow"


# --- the bundle and the catalogue ---


def test_bundle_holds_every_desktop_module_and_loads_in_an_empty_namespace() -> None:
    bundle = desktop_bundle()
    assert {"evaluators", "evaluators.decorators", "evaluators.desktop"} <= set(bundle.modules)
    assert next(iter(bundle.modules)) == "evaluators"
    for name, source in bundle.modules.items():
        compile(source, name, "exec")
    assert not any("pydantic" in source for source in bundle.modules.values())


def test_every_built_in_evaluator_can_be_described() -> None:
    tools = builtin_evaluators()
    assert set(tools) == {"desktop", "phone", "session", "world"}
    for place, named in tools.items():
        assert named, place
        for name, tool in named.items():
            assert tool.name == name
            assert tool.on in {place, "documents", "vision"}
            assert tool.description
            assert tool.parameters()["additionalProperties"] is False


def test_duplicate_evaluator_names_are_rejected() -> None:
    from types import ModuleType

    from foundation.errors import SpecError

    module = ModuleType(__name__)
    module.__dict__["is_more"] = is_more
    assert list(tools_of([module], kind="evaluator")["session"]) == ["is_more"]
    with pytest.raises(SpecError, match="Duplicate evaluator 'is_more'"):
        tools_of([module, module], kind="evaluator")
