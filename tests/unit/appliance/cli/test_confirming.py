from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from appliance.cli import confirming
from controller.confirmations import Pending
from controller.episode.confirmation import Answer, Question
from controller.specification.run import ActionSpec

if TYPE_CHECKING:
    from collections.abc import Callable


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


WAITING = Pending(
    "note",
    0,
    1,
    Question(number=3, asked_s=0.0, action={"do": "key", "with": {"keys": ["\x1b[2J"]}}),
)


def folder(*, confirm: bool) -> Any:  # noqa: ANN401
    return SimpleNamespace(spec=SimpleNamespace(run="r-1", actions=ActionSpec(confirm=confirm)))


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y\n", Answer(is_approved=True)),
        ("\n", Answer(is_approved=True)),
        ("n\nToo risky\n", Answer(is_approved=False, reason="Too risky")),
        ("n\n\n", Answer(is_approved=False)),
    ],
)
def test_person_at_the_terminal_is_asked(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: str,
    answer: Answer,
) -> None:
    given: list[Answer] = []

    def answer_each(_run: object, ask: Callable[[Pending], Answer], _over: object) -> None:
        given.append(ask(WAITING))

    monkeypatch.setattr("controller.confirmations.answer_each", answer_each)
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    with confirming.confirming(folder(confirm=True)):
        for thread in [t for t in __import__("threading").enumerate() if t.daemon]:
            thread.join(5)
    assert given == [answer]
    shown = capsys.readouterr().err
    assert "note.0, action 3" in shown
    assert "\x1b[2J" not in shown


def test_without_a_terminal_the_page_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with confirming.confirming(folder(confirm=True)):
        pass
    assert "/runs/r-1/confirmations" in capsys.readouterr().err


def test_other_runs_ask_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    with confirming.confirming(cast("Any", folder(confirm=False))):
        pass
    assert capsys.readouterr().err == ""
