"""A phone user who tries to pass without doing the task."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from evaluators.graph.outcome import Verdict
from foundation import process
from foundation.process import CommandResult
from tests.attacks.model import PhoneAttack
from tests.attacks.registry import all_attacks
from tests.attacks.trial import phone_trial
from tests.standins.phone_user import User

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

ATTACKS = [attack for attack in all_attacks() if isinstance(attack, PhoneAttack)]


class PhoneShell:
    """The commands of the reference phone, as evaluators run them.

    Args:
        user: owner of the phone.
    """

    def __init__(self, user: User) -> None:
        self._user = user

    def run(
        self,
        argv: Sequence[str],
        *,
        user: str | None = None,
        timeout_s: float = 10.0,
        input: bytes = b"",  # noqa: A002
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run one of Android's commands, or a program of this host in the phone's folder."""
        del user, timeout_s, input, cwd, env
        root = self._user.config.root
        if argv[0] in {"cat", "find", "stat", "test"}:
            return process.run([f"{root}{word}" if word[:1] == "/" else word for word in argv])
        done = self._user.commands.run(list(argv), root)
        return CommandResult(tuple(argv), done.exit_code, done.stdout, done.stderr)


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    with contextlib.closing(User(tmp_path)) as opened:
        yield opened


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_only_completed_work_is_met(user: User, attack: PhoneAttack) -> None:
    shell = PhoneShell(user)
    trial = phone_trial(shell, attack.calls)
    trial.begin()
    attack.actions(user)
    attack.effect(user)
    met = trial.step()
    judgement = trial.judge()
    assert (met, trial.met()) == ([], [])
    assert judgement.verdict is Verdict.FAIL, judgement.ending
    assert dict(trial.graph.inconclusive) == {}
    if attack.honest:
        assert len(phone_trial(shell, attack.honest).step()) == len(attack.honest)
