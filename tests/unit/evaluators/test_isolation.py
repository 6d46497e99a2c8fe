"""Evaluators of sessions in child processes."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from evaluators.catalogue import builtin_evaluators
from evaluators.decorators import evaluator
from evaluators.graph.outcome import Call, Cause
from evaluators.isolation.codec import decode, encode
from evaluators.isolation.messages import ANSWER_CPU_S, Reply, Request
from evaluators.isolation.pool import EvaluatorProcesses, _reply
from evaluators.pictures import Picture
from evaluators.rendering.request import CellItem
from evaluators.rendering.views.any import ViewedDocument
from evaluators.rendering.views.sheets import DataField, SheetsView
from evaluators.runners import session_runner
from evaluators.schema import describe
from evaluators.session.view import CrossView
from evaluators.suite_code.functions import load_suite_code
from evaluators.testing.session import SessionFixture
from foundation import process
from foundation.errors import (
    CostlyAnswerError,
    EvaluationError,
    GuestCallError,
    LinkClosedError,
)
from tests.standins.reach import tcp_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.protocols import Json, Machine

SUITE = Path(__file__).parents[3] / "examples" / "suites" / "receipts"


VIEW = SheetsView(
    version=1,
    kind="sheets",
    sheets=(),
    active_sheet="Data",
    null_date="1899-12-30",
    perturbed=(),
    shown=(),
)


@dataclass
class Session:
    answer: str | None = "7"


@evaluator(on="session")
def hangs(session: Session) -> bool:
    """Run for ever."""
    while True:
        pass


@evaluator(on="session")
def prints(session: Session) -> bool:
    """Return whether there is an answer, and print much."""
    print("x" * 200_000)  # noqa: T201
    return session.answer is not None


@evaluator(on="session")
def breaks(session: Session) -> bool:
    """Raise."""
    raise ZeroDivisionError("by nought")


@evaluator(on="session")
def mumbles(session: Session) -> bool:
    """Return something that is not a bool."""
    return 1  # type: ignore[return-value]


@evaluator(on="session")
def dies(session: Session) -> bool:
    """End the process."""
    os._exit(3)


@evaluator(on="session")
def names_its_process(session: Session, pid: int) -> bool:
    """Return whether the process is another one than that given.

    Args:
        session: the session.
        pid: of the other.
    """
    return os.getpid() != pid


@evaluator(on="session")
def service_says(session: CrossView, role: str, port: int, text: str) -> bool:
    """Return whether a service says a text to whoever connects.

    Args:
        session: the session.
        role: role of the service.
        port: the port that machines see.
        text: what it says.
    """
    with socket.create_connection(session.endpoint(role, port), timeout=10) as link:
        return link.makefile().read() == text


@evaluator(on="session")
def reads_and_counts(session: CrossView) -> bool:
    """Return true after more CPU time than an answer may take, and after reading the desktop."""
    session.machine("desktop").fetch("~/a.txt")
    start_s = time.process_time()
    while time.process_time() < start_s + ANSWER_CPU_S + 0.5:
        pass
    return True


TOOLS = {
    function.__name__: describe(function)
    for function in (hangs, prints, breaks, mumbles, dies, names_its_process, service_says)
}


@pytest.fixture
def processes() -> Iterator[EvaluatorProcesses]:
    pool = EvaluatorProcesses()
    yield pool
    pool.close()


def view(session: Session | None = None) -> CrossView:
    return CrossView(session or Session(), {}, timeout_s=30)


class Service:
    """A service that says hello to whoever connects."""

    def __init__(self, place: tuple[str, int]) -> None:
        self.endpoints = {80: place}


def test_evaluator_asks_a_service_from_the_host() -> None:
    with tcp_service(lambda sock: sock.sendall(b"hello")) as place:
        runner = session_runner(Session(), TOOLS, services={"shop": Service(place)})
        calls = [
            Call(
                f"{role} {port} {text}", "service_says", {"role": role, "port": port, "text": text}
            )
            for role, port, text in (
                ("shop", 80, "hello"),
                ("shop", 80, "bye"),
                ("shop", 81, "hello"),
                ("mail", 80, "hello"),
            )
        ]
        outcomes = runner.evaluate(calls, timeout_s=30)
    assert [outcome.met for outcome in outcomes] == [True, False, None, None]
    assert "no port 81" in outcomes[2].reason
    assert "mail" in outcomes[3].reason


@pytest.mark.slow
def test_hanging_evaluator_is_ended_at_its_deadline_and_named() -> None:
    runner = session_runner(Session(), TOOLS)
    runner.evaluate([Call("warm", "prints")], timeout_s=30)
    start_s = time.monotonic()
    outcome = runner.evaluate([Call("a", "hangs")], timeout_s=0.3)[0]
    assert time.monotonic() - start_s < 10
    assert (outcome.met, outcome.cause) == (None, Cause.EVALUATOR)
    assert outcome.reason == "hangs did not end within 0.3 s and was killed."
    assert runner.evaluate([Call("b", "prints")], timeout_s=30)[0].met is True


@pytest.mark.slow
@pytest.mark.parametrize("prefix", ["namespace", "none"])
def test_answer_that_keeps_an_evaluator_busy_is_too_costly(
    prefix: str, monkeypatch: pytest.MonkeyPatch, processes: EvaluatorProcesses
) -> None:
    if prefix == "none":
        monkeypatch.setattr(process, "_prefix", tuple)
    tool = builtin_evaluators()["session"]["answer_matches"]
    args: dict[str, Json] = {"pattern": "(a+)+b"}
    with pytest.raises(CostlyAnswerError, match=r"answer_matches used more than 2 s of CPU time"):
        processes.call(tool, view(Session("a" * 60)), args, 60)
    assert processes.call(tool, view(Session("aab")), args, 60) is True


@pytest.mark.slow
def test_costly_answer_is_unmet_and_other_nodes_are_evaluated() -> None:
    calls = [
        Call("a", "answer_matches", {"pattern": "(a+)+b"}),
        Call("b", "answer_equals", {"expected": "a" * 60}),
    ]
    runner = session_runner(Session("a" * 60), builtin_evaluators()["session"])
    rows = runner.evaluate(calls, timeout_s=60)
    assert [row.met for row in rows] == [False, True]
    assert "to evaluate the submitted answer" in rows[0].reason


@pytest.mark.slow
def test_hanging_evaluator_without_an_answer_is_at_fault(
    processes: EvaluatorProcesses,
) -> None:
    with pytest.raises(EvaluationError, match="did not end within 3 s") as caught:
        processes.call(TOOLS["hangs"], view(Session(None)), {}, 3)
    assert not isinstance(caught.value, CostlyAnswerError)


@pytest.mark.slow
def test_answer_time_limit_does_not_apply_after_reading_a_machine(
    tmp_path: Path, processes: EvaluatorProcesses
) -> None:
    fixture = SessionFixture(tmp_path)
    fixture.desktop.write("~/a.txt", b"Lab\n")
    fixture.answered("Lab")
    tool = describe(reads_and_counts)
    assert processes.call(tool, fixture.subject(), {}, 60) is True


@pytest.mark.slow
def test_evaluators_share_a_reused_child_process(
    processes: EvaluatorProcesses,
) -> None:
    tool = TOOLS["names_its_process"]
    assert processes.call(tool, view(), {"pid": os.getpid()}, 30) is True
    first = processes._idle[0]
    processes.call(tool, view(), {"pid": 1}, 30)
    assert processes._idle == [first]


@pytest.mark.slow
def test_dead_process_is_replaced(processes: EvaluatorProcesses) -> None:
    with pytest.raises(EvaluationError, match="dies: its process died"):
        processes.call(TOOLS["dies"], view(), {}, 30)
    assert processes.call(TOOLS["prints"], view(), {}, 30) is True
    process.kill_group(processes._idle[0]._process)
    assert processes.call(TOOLS["prints"], view(), {}, 30) is True


def test_exception_or_wrong_return_value_is_the_reason() -> None:
    runner = session_runner(Session(), TOOLS)
    calls = [Call("a", "breaks"), Call("b", "mumbles"), Call("c", "prints", {"pid": 1})]
    rows = runner.evaluate(calls, timeout_s=30)
    assert [row.met for row in rows] == [None, None, None]
    assert rows[0].reason == "breaks raised ZeroDivisionError: by nought"
    assert "not a bool" in rows[1].reason
    assert "pid" in rows[2].reason


@pytest.mark.slow
def test_machines_are_read_by_the_parent(tmp_path: Path) -> None:
    fixture = SessionFixture(tmp_path)
    fixture.desktop.write("~/a.txt", b"Lab\n")
    fixture.answered("Lab")
    place: dict[str, Json] = {"read": "file", "on": "desktop", "path": "~/a.txt"}
    calls = [
        Call("a", "values_equal", {"left": place, "right": {"read": "answer"}}),
        Call("b", "values_equal", {"left": {**place, "on": "tablet"}, "right": place}),
    ]
    processes = EvaluatorProcesses()
    tool = builtin_evaluators()["session"]["values_equal"]
    assert processes.call(tool, fixture.subject(), calls[0].args, 30) is True
    with pytest.raises(Exception, match="tablet"):
        processes.call(tool, fixture.subject(), calls[1].args, 30)
    processes.close()


def test_lost_machine_stays_the_cause() -> None:
    class Lost:
        @property
        def info(self) -> object:
            raise LinkClosedError("The link is closed.")

        files = screen = info

    place: Json = {"read": "file", "on": "desktop", "path": "~/a.txt"}
    runner = session_runner(
        Session(), builtin_evaluators()["session"], {"desktop": cast("Machine", Lost())}
    )
    call = Call("a", "values_equal", {"left": place, "right": {"read": "answer"}})
    outcome = runner.evaluate([call], timeout_s=30)[0]
    assert (outcome.met, outcome.cause) == (None, Cause.MACHINE)
    assert "The link is closed." in outcome.reason


@pytest.mark.slow
def test_suite_evaluator_runs_in_the_child_process(processes: EvaluatorProcesses) -> None:
    code = load_suite_code(SUITE, "receipts")
    tool = next(
        function.tool for function in code.functions if function.tool.name == "answer_is_amount"
    )
    session = Session("It is 103.10")
    assert processes.call(tool, view(session), {"amount": "103.10"}, 30) is True


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 2.5, None, True, "é"], "b": {"!": "mapping"}},
        {7: (b"\0\xff", ("x",))},
        Picture(np.arange(12, dtype=np.uint8).reshape(2, 2, 3), "PNG", "RGB"),
        (CellItem(sheet="", cell="B2"), DataField(name="Price", function="sum")),
        ViewedDocument(VIEW, (b"\x89PNG",)),
        Request(("machine", "desktop"), "fetch", ("~/a",), {"x": 1}),
    ],
)
def test_values_arrive_unchanged(value: object) -> None:
    received = decode(encode(value))
    assert type(received) is type(value)
    assert repr(received) == repr(value)


@pytest.mark.parametrize(
    "error",
    [GuestCallError("It refuses.", "details", "cure"), KeyError("a"), OSError("no")],
)
def test_errors_arrive_with_their_class(error: Exception) -> None:
    received = decode(encode(Reply(error=error))).error
    assert type(received) is type(error)
    assert str(error).strip("'") in str(received)


def test_unsupported_values_are_rejected() -> None:
    with pytest.raises(EvaluationError, match="cannot be sent"):
        encode(object())
    for text in (
        b"\x80\x04\x95",
        b'{"!": "subprocess.Popen", "content": {"args": "id"}}',
        b'{"!": "array", "content": ["object", [1], ""]}',
        b'{"content": 1}',
    ):
        with pytest.raises(EvaluationError, match="damaged"):
            decode(text)


def test_only_public_view_methods_can_be_called() -> None:
    for request in (Request((), "_find", ("desktop",)), Request(("__init__",), "x")):
        reply = decode(_reply(request, view()))
        assert isinstance(reply.error, EvaluationError)
