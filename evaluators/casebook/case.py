"""What a case is: a state, arguments, and the verdict that an evaluator must give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, Self

from evaluators.decorators import mark_of

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.decorators import Mark
    from provisioning.protocols import Json

Damage = tuple[str, Callable[[], object]]
"""One way to spoil a state: its name, and what does it."""


class Kind(StrEnum):
    """What a case tries."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEAR_MISS = "near miss"
    CORRUPT = "corrupt"
    MISSING = "missing"
    EMPTY = "empty"
    HOSTILE = "hostile"


class Bench(Protocol):
    """A scratch place in which a state is prepared and looked at by an evaluator."""

    def subject(self) -> Any:  # noqa: ANN401  (each place has its own)
        """Make the evaluator's first argument anew, without anything remembered."""
        ...

    def arguments(self, args: Mapping[str, Json]) -> Mapping[str, Json]:
        """Fill in what is known only now, such as the port of a server."""
        ...

    def perturbations(self) -> list[Damage]:
        """Give ways to spoil the prepared state; the same ones each time a case is prepared."""
        ...

    def close(self) -> None:
        """Let go of what the bench holds; the scratch folder is removed by others."""
        ...


class BenchBase:
    """A bench that holds nothing and fills nothing in; give it a `subject`.

    Args:
        folder: an empty scratch folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def arguments(self, args: Mapping[str, Json]) -> Mapping[str, Json]:
        """Leave arguments as they are."""
        return args

    def perturbations(self) -> list[Damage]:
        """Know none."""
        return []

    def close(self) -> None:
        """Hold nothing."""


State = Callable[[Any], object]
"""Puts a state into a bench; what it gives back does not matter."""


@dataclass(frozen=True)
class Case:
    """One row of a table.

    Attributes:
        kind: what is tried.
        name: in words; unique within its table.
        state: puts the state into a bench.
        args: the evaluator's arguments, without its subject.
        met: the verdict that must come; None: the evaluator must raise.
    """

    kind: Kind
    name: str
    state: State
    args: Mapping[str, Json]
    met: bool | None

    def undecided(self) -> Self:
        """Expect the evaluator to raise, which makes its node inconclusive."""
        return replace(self, met=None)

    def still_met(self) -> Self:
        """Expect the verdict to be met in spite of all."""
        return replace(self, met=True)


@dataclass(frozen=True)
class Table:
    """All cases of one evaluator.

    Attributes:
        evaluator: the marked function.
        bench: makes a bench from an empty scratch folder.
        cases: at least one of each kind but those in `inapplicable`.
        inapplicable: why there can be no case of a kind.
        equivalent: perturbations, as the mutation report names them, that rightly leave the
            verdict as it is, and why; a name may end with ``*``.
    """

    evaluator: Callable[..., bool]
    bench: Callable[[Path], Bench]
    cases: tuple[Case, ...]
    inapplicable: Mapping[Kind, str] = field(default_factory=dict)
    equivalent: Mapping[str, str] = field(default_factory=dict)

    @property
    def mark(self) -> Mark:
        """The evaluator's mark.

        Raises:
            TypeError: the function is not marked.
        """
        mark = mark_of(self.evaluator)
        if mark is None:
            raise TypeError(f"{self.evaluator!r} is no evaluator")
        return mark


def nothing(bench: Bench) -> None:
    """Leave a bench as it is."""


def positive(name: str, state: State, /, **args: Json) -> Case:
    """Make a case that must be met."""
    return Case(Kind.POSITIVE, name, state, args, met=True)


def negative(name: str, state: State, /, **args: Json) -> Case:
    """Make a case of something quite different, which must be unmet."""
    return Case(Kind.NEGATIVE, name, state, args, met=False)


def near_miss(name: str, state: State, /, **args: Json) -> Case:
    """Make a case that is almost right, or right in the wrong place, and must be unmet."""
    return Case(Kind.NEAR_MISS, name, state, args, met=False)


def corrupt(name: str, state: State, /, **args: Json) -> Case:
    """Make a case of broken data, which must be unmet."""
    return Case(Kind.CORRUPT, name, state, args, met=False)


def missing(name: str, state: State, /, **args: Json) -> Case:
    """Make a case where what is looked at is not there, which must be unmet."""
    return Case(Kind.MISSING, name, state, args, met=False)


def empty(name: str, state: State, /, **args: Json) -> Case:
    """Make a case where what is looked at holds nothing, which must be unmet."""
    return Case(Kind.EMPTY, name, state, args, met=False)


def hostile(name: str, state: State, /, **args: Json) -> Case:
    """Make a case in which somebody tries to deceive or to choke the evaluator."""
    return Case(Kind.HOSTILE, name, state, args, met=False)
