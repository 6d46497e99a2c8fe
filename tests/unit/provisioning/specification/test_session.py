"""The session of a new machine is prepared as its image says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from foundation.clock import FakeClock
from foundation.errors import DesktopFaultyError
from foundation.process import CommandResult
from images.custom.declaration import Session
from provisioning.specification.session import prepare_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Machine


@dataclass
class Info:
    image: str = "desktop:paint"
    user: str = "user"


@dataclass
class SlowMachine:
    """A machine on which each command fails a number of times before it succeeds."""

    failures: dict[str, int]
    info: Info = field(default_factory=Info)
    calls: list[tuple[str, str | None]] = field(default_factory=list)

    def run(
        self, argv: Sequence[str], *, user: str | None = None, timeout_s: float = 0
    ) -> CommandResult:
        command = argv[-1]
        self.calls.append((command, user))
        left = self.failures.get(command, 0)
        self.failures[command] = left - 1
        return CommandResult(tuple(argv), 1 if left > 0 else 0, b"", b"it broke")


def prepare(machine: SlowMachine, session: Session) -> None:
    clock = FakeClock()
    prepare_session(cast("Machine", cast("Any", machine)), session, lambda _line: None, clock=clock)


def session(content: dict[str, object]) -> Session:
    return Session.model_validate(content)


def test_commands_run_as_their_user_and_conditions_are_awaited() -> None:
    machine = SlowMachine({"probe": 3})
    prepare(
        machine,
        session(
            {
                "run": [{"run": "one"}, {"run": "two", "as": "root"}],
                "ready": [{"command": "probe"}, {"process": "a-name-of-more-than-15"}],
            }
        ),
    )
    assert machine.calls[:2] == [("one", "user"), ("two", "root")]
    assert [command for command, _ in machine.calls].count("probe") == 4
    assert ("a-name-of-more-", None) in machine.calls


def test_a_failing_command_is_a_fault() -> None:
    with pytest.raises(DesktopFaultyError, match="exit code 1") as caught:
        prepare(SlowMachine({"one": 1}), session({"run": [{"run": "one"}]}))
    assert "it broke" in caught.value.details


def test_a_condition_that_never_holds_is_a_fault() -> None:
    with pytest.raises(DesktopFaultyError, match="not ready within 30 s") as caught:
        prepare(
            SlowMachine({"probe": 10_000}),
            session({"ready": [{"command": "probe"}], "timeout_s": 30.0}),
        )
    assert "not so: command 'probe'" in caught.value.details
