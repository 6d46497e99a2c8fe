"""Attacks, and the environments they run in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.graph.outcome import Call
    from tests.attacks.arenas import Arena
    from tests.standins.phone_user import User

STAND_IN, VM, CONTAINER = "stand-in", "libvirt-desktop", "container-desktop"
MACHINES = frozenset({VM, CONTAINER})
REPEATED_TIMEOUTS = "the evaluators that it delays must time out repeatedly"
"""Why `make test` skips an attack."""
NO_TOOL = "red team: tool missing"
"""What a script prints if the agent lacks a tool that the attack needs."""

Evidence = Callable[["Arena", str], None]
"""Asserts that an attack really ran: gets the arena and the script's output."""
MAX_ROUNDS = 60
"""How many times the nodes are evaluated, at most, while attacks wait for their trigger."""


def no_evidence(_arena: Arena, _output: str) -> None:
    """Require no evidence beyond the script's own errors."""


def needs_no_trigger(_arena: Arena) -> bool:
    """Return True: no further rounds are needed."""
    return True


def creates_file(name: str) -> Evidence:
    """Return an assertion that a file appears in the agent's home folder within a minute."""

    def file_exists(arena: Arena, output: str) -> None:
        assert wait_until(lambda: name in arena.shell("ls").split(), timeout_s=60), output

    return file_exists


@dataclass(frozen=True, kw_only=True)
class Attack:
    """An attempt of the agent to get a better verdict than it deserves.

    Attributes:
        name: unique.
        family: of the evaluators that it targets: the name of its folder.
        defence: what stops it, one clause; for docs/red-team.md.
        calls: evaluators that must stay unmet.
        only_nightly: why `make test` never runs it; empty: it does.
        differs_on: machines with a different defence than the stand-in, because their session,
            kernel, disk, or capabilities differ.
        represents_on: those of these machines on which it represents its kind in `make test`; all
            others run only nightly there.
    """

    name: str
    family: str
    defence: str
    calls: tuple[Call, ...]
    only_nightly: str = ""
    differs_on: frozenset[str] = frozenset()
    represents_on: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class AnswerAttack(Attack):
    """An answer that the agent submits.

    Attributes:
        submissions: pairs of an evaluator and the answers submitted to it, in order.
    """

    submissions: tuple[tuple[Call, tuple[str, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class PhoneAttack(Attack):
    """Taps and key presses of the agent on a phone.

    Attributes:
        actions: its taps and keys.
        effect: asserts that they had the effect that the attack relies on.
        honest: evaluators of what really happened; asserted to be met afterwards.
    """

    actions: Callable[[User], None]
    effect: Callable[[User], None] = lambda _user: None
    honest: tuple[Call, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ShellAttack(Attack):
    """A script that the agent runs in a shell of a desktop, as its own user.

    Attributes:
        script: of its shell, in its home folder.
        slow_on: machines on which it takes more than ten seconds.
        prepare: script that is run before.
        is_background: the script runs in the background during the evaluation, which starts after
            its `effect`.
        rounds: how many times the nodes are evaluated, at least.
        has_triggered: whether the event that the attack waits for has occurred; evaluation repeats
            until then, since the attack can miss any number of rounds on a busy host.
        fills_disk: must not run where the disk is the host's.
        effect: asserts, before the evaluation, that it has taken effect.
        evidence: asserts, after the evaluation, that it ran.
        root: script that root runs before: what setuid programs of the image do and the stand-in
            lacks, or a server of another user.
        is_isolated: whether it only uses its own folder, so that it runs together with others of
            its family.
        wave_timeout_s: of the evaluators; short where some must time out.
        also_required: evaluators that each node requires in addition; only for attacks that run
            alone.
    """

    script: str
    slow_on: frozenset[str] = frozenset()
    prepare: str = ":"
    is_background: bool = False
    rounds: int = 1
    has_triggered: Callable[[Arena], bool] = needs_no_trigger
    fills_disk: bool = False
    effect: Evidence = no_evidence
    evidence: Evidence = no_evidence
    root: str = ""
    is_isolated: bool = False
    wave_timeout_s: float = 20.0
    also_required: tuple[Call, ...] = ()

    def marks(self, arena: str) -> Iterator[pytest.MarkDecorator]:
        """Yield the marks of its test in an arena, by the arena's name."""
        if arena in self.slow_on:
            yield pytest.mark.slow
        if self.only_nightly:
            yield nightly(self.only_nightly)
        elif arena in MACHINES - self.differs_on:
            yield nightly("the defence is the same as on the stand-in")
        elif arena in MACHINES - self.represents_on:
            yield nightly("`make test` runs another attack of the same kind there")


@dataclass(frozen=True)
class Group:
    """Attacks of one family that run together, each in its own folder.

    Attributes:
        family: of all of them.
        attacks: at least one.
        wave_timeout_s: of all their evaluators.
        also_required: always empty, see `ShellAttack`.
    """

    family: str
    attacks: tuple[ShellAttack, ...]
    wave_timeout_s: float = 60.0
    also_required: tuple[Call, ...] = ()

    @property
    def name(self) -> str:
        """Name of its test case."""
        return f"{self.family}: {len(self.attacks)} attacks"

    def marks(self, arena: str) -> Iterator[pytest.MarkDecorator]:
        """Yield the marks of its test in an arena: the fewest of any of its attacks."""
        chosen = [list(attack.marks(arena)) for attack in self.attacks]
        yield from min(chosen, key=len)
