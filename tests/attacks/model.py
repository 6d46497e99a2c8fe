"""What an attack is, and where it is played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from appliance.base.clock import wait_until
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.graph.outcome import Call
    from tests.attacks.arenas import Arena
    from tests.standins.phone_user import User

STAND_IN, VM, CONTAINER = "stand-in", "libvirt-desktop", "container-desktop"
MACHINES = frozenset({VM, CONTAINER})
WAITS = "what it delays must time out, again and again"
"""Why a landing leaves an attack out."""
NO_TOOL = "red team: tool missing"
"""What a script prints where the agent lacks a tool of the attack."""

Evidence = Callable[["Arena", str], None]
"""Asserts that an attack was really played: gets the arena and what the script printed."""
MOST_ROUNDS = 60
"""How often is judged, at most, until an attack has met what it waits for."""


def none_needed(_arena: Arena, _output: str) -> None:
    """Leave it at the script's own errors."""


def waits_for_nothing(_arena: Arena) -> bool:
    """Be content with the rounds that were declared."""
    return True


def leaves(name: str) -> Evidence:
    """Assert that a file of the agent's home folder appears within a minute."""

    def is_there(arena: Arena, output: str) -> None:
        assert wait_until(lambda: name in arena.shell("ls").split(), timeout_s=60), output

    return is_there


@dataclass(frozen=True, kw_only=True)
class Attack:
    """What the agent does to be judged better than it is.

    Attributes:
        name: unique.
        family: of the evaluators it is aimed at: the name of its folder.
        defence: what stops it, one clause; for docs/red-team.md.
        calls: evaluators that must stay unmet.
        only_nightly: why a landing plays it nowhere; empty: it does.
        differs_on: machines on which something else stands against it than on the stand-in: another
            session, kernel, disk or capability.
        represents_on: those of these machines on which it stands for its kind in a landing; all
            others are left to the nightly there.
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
    """What the agent hands in as its answer.

    Attributes:
        tries: an evaluator each, and the answers that are handed in to it one after the other.
    """

    tries: tuple[tuple[Call, tuple[str, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class PhoneAttack(Attack):
    """What the agent does in front of a phone: it taps and types.

    Attributes:
        moves: its taps and keys.
        effect: asserts that they had the effect that the attack relies on.
        honest: asserted to be met afterwards: what really happened.
    """

    moves: Callable[[User], None]
    effect: Callable[[User], None] = lambda _user: None
    honest: tuple[Call, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ShellAttack(Attack):
    """What the agent does in a shell of a desktop, as its own user.

    Attributes:
        script: of its shell, in its home folder.
        slow_on: machines on which it takes more than ten seconds.
        prepare: script that is run before.
        goes_on: the script runs beside the judging, which waits for its `effect`.
        rounds: how often is judged.
        has_met: whether it met what it lies in wait for; it is judged again until it has, since a
            busy host may let it miss any number of rounds.
        fills_disk: must not run where the disk is the host's.
        effect: asserts, before it is judged, that it has taken effect.
        evidence: asserts, after it was judged, that it was played.
        root: script that root runs before: what setuid programs of the image do and the stand-in
            lacks, or a server of somebody else's.
        is_apart: whether it touches nothing but its own folder, so that it is played together with
            others of its family.
        wave_timeout_s: of the evaluators; short where some must time out.
        together: evaluators that each node asks for as well; of attacks that are played alone.
    """

    script: str
    slow_on: frozenset[str] = frozenset()
    prepare: str = ":"
    goes_on: bool = False
    rounds: int = 1
    has_met: Callable[[Arena], bool] = waits_for_nothing
    fills_disk: bool = False
    effect: Evidence = none_needed
    evidence: Evidence = none_needed
    root: str = ""
    is_apart: bool = False
    wave_timeout_s: float = 20.0
    together: tuple[Call, ...] = ()

    def marks(self, place: str) -> Iterator[pytest.MarkDecorator]:
        """Yield the marks of its test at a place."""
        if place in self.slow_on:
            yield pytest.mark.slow
        if self.only_nightly:
            yield nightly(self.only_nightly)
        elif place in MACHINES - self.differs_on:
            yield nightly("what stands against it is the same as on the stand-in")
        elif place in MACHINES - self.represents_on:
            yield nightly("an attack of the same kind is played there in a landing")


@dataclass(frozen=True)
class Group:
    """Attacks of one family that are played together, each in a folder of its own.

    Attributes:
        family: of all of them.
        attacks: at least one.
        wave_timeout_s: of all their evaluators.
        together: nothing, see `ShellAttack`.
    """

    family: str
    attacks: tuple[ShellAttack, ...]
    wave_timeout_s: float = 60.0
    together: tuple[Call, ...] = ()

    @property
    def name(self) -> str:
        """Name of its test case."""
        return f"{self.family}: {len(self.attacks)} together"

    def marks(self, place: str) -> Iterator[pytest.MarkDecorator]:
        """Yield the marks of its test at a place: those of the attack that is played most."""
        chosen = [list(attack.marks(place)) for attack in self.attacks]
        yield from min(chosen, key=len)
