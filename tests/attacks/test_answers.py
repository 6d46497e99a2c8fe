"""Answers that are wrong, or more than the right one; none may be accepted."""

from __future__ import annotations

import pytest

from controller.actions.executor import ActionExecutor
from controller.actions.session import SessionState
from controller.actions.space import Action, ActionSpace
from controller.actions.vocabulary import vocabulary
from evaluators.graph.outcome import Verdict
from evaluators.session.answers import MAX_ANSWER_CHARS
from foundation.clock import FakeClock
from foundation.errors import ActionError
from tests.attacks.answers.attacks import TARGETS
from tests.attacks.model import AnswerAttack
from tests.attacks.registry import all_attacks
from tests.attacks.trial import AttackTrial, session_trial

ATTACKS = [attack for attack in all_attacks() if isinstance(attack, AnswerAttack)]


def submit(*answers: str) -> SessionState:
    """Submit answers, as an agent does; those that are rejected are lost."""
    state = SessionState(FakeClock())
    space = ActionSpace({}, vocabulary().actions or {})
    executor = ActionExecutor(space, {}, state)
    for answer in answers:
        try:
            executor.execute(Action("submit", None, {"answer": answer}))
        except ActionError:
            assert len(answer) > MAX_ANSWER_CHARS
    return state


def outcome(trial: AttackTrial) -> tuple[list[str], Verdict, dict[str, str]]:
    met = trial.step()
    return met + trial.met(), trial.judge().verdict, dict(trial.graph.inconclusive)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_only_right_answers_are_met(attack: AnswerAttack) -> None:
    for call, answers in attack.submissions:
        trial = session_trial(submit(*answers), (call,))
        assert outcome(trial) == ([], Verdict.FAIL, {}), answers


def test_the_right_answers_are_met() -> None:
    for target in TARGETS:
        trial = session_trial(submit(target.wrong, target.right), (target.call,))
        assert len(trial.step()) == 1, target
        assert trial.judge().verdict is Verdict.PASS
        wrong = session_trial(submit(target.wrong), (target.call,))
        assert outcome(wrong) == ([], Verdict.FAIL, {}), target
