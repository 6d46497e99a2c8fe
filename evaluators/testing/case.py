"""Test cases of evaluators: a state, arguments, and the expected verdict."""

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

StateMutation = tuple[str, Callable[[], object]]
"""A mutation of a state: its name, and the function that applies it."""


class CaseKind(StrEnum):
    """Kind of a test case."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEAR_MISS = "near miss"
    CORRUPT = "corrupt"
    MISSING = "missing"
    EMPTY = "empty"
    HOSTILE = "hostile"
    FORGED = "forged"
    """The evaluator's condition seems to hold, but the event did not occur."""
    ANOTHER_WAY = "another way"
    """A legitimate result reached differently: another program, another form of the value."""


PAIRED = frozenset({CaseKind.FORGED, CaseKind.ANOTHER_WAY})
"""Kinds with at least two cases per evaluator, unless inapplicable."""


class Fixture(Protocol):
    """A scratch environment in which a case prepares a state that an evaluator reads."""

    suite_folder: Path
    """Folder of the suite, for arguments that name its files."""

    def subject(self) -> Any:  # noqa: ANN401  (each kind of fixture has its own)
        """Create the evaluator's first argument, with an empty cache."""
        ...

    def arguments(self, args: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return arguments with values that are known only at run time, such as a server's port."""
        ...

    def state_mutations(self) -> list[StateMutation]:
        """Return mutations of the prepared state, deterministically."""
        ...

    def close(self) -> None:
        """Release the fixture's resources; the caller removes the scratch folder."""
        ...


class BaseFixture:
    """A fixture without its own resources; subclasses define `subject`.

    Args:
        folder: an empty scratch folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.suite_folder = folder / "suite"

    def arguments(self, args: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the arguments unchanged."""
        return args

    def reference(self, name: str, data: bytes) -> None:
        """Write a file of the suite."""
        path = self.suite_folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def state_mutations(self) -> list[StateMutation]:
        """Return an empty list."""
        return []

    def close(self) -> None:
        """Do nothing."""


State = Callable[[Any], object]
"""Function that prepares a state in a fixture; its return value is ignored."""


@dataclass(frozen=True)
class Case:
    """One test case of an evaluator.

    Attributes:
        kind: kind of the case.
        name: description, unique among the evaluator's cases.
        state: function that prepares the state.
        args: the evaluator's arguments, without its subject.
        met: the expected verdict; None if the evaluator must raise.
    """

    kind: CaseKind
    name: str
    state: State
    args: Mapping[str, Json]
    met: bool | None

    def expect_error(self) -> Self:
        """Return a copy that expects the evaluator to raise, so that its node is inconclusive."""
        return replace(self, met=None)

    def expect_met(self) -> Self:
        """Return a copy that expects the evaluator to be met."""
        return replace(self, met=True)


@dataclass(frozen=True)
class CaseTable:
    """All cases of one evaluator.

    Attributes:
        evaluator: the marked function.
        fixture: factory of a fixture in an empty scratch folder.
        cases: at least one of each kind, except those in `inapplicable`.
        inapplicable: kinds without cases, with the reason.
        equivalent: state mutations that must not change the verdict, by their names in the mutation
            report, with the reason; a name may end with ``*``.
    """

    evaluator: Callable[..., bool]
    fixture: Callable[[Path], Fixture]
    cases: tuple[Case, ...]
    inapplicable: Mapping[CaseKind, str] = field(default_factory=dict)
    equivalent: Mapping[str, str] = field(default_factory=dict)

    @property
    def mark(self) -> Mark:
        """The evaluator's mark.

        Raises:
            TypeError: the function is not marked.
        """
        mark = mark_of(self.evaluator)
        if mark is None:
            raise TypeError(f"{self.evaluator!r} is not an evaluator")
        return mark


def nothing(fixture: Fixture) -> None:
    """Leave the fixture as it is."""


def positive(name: str, state: State, /, **args: Json) -> Case:
    """Create a case that must be met."""
    return Case(CaseKind.POSITIVE, name, state, args, met=True)


def negative(name: str, state: State, /, **args: Json) -> Case:
    """Create a case with a clearly different state, which must be unmet."""
    return Case(CaseKind.NEGATIVE, name, state, args, met=False)


def near_miss(name: str, state: State, /, **args: Json) -> Case:
    """Create a case that is almost right, or right in the wrong place, and must be unmet."""
    return Case(CaseKind.NEAR_MISS, name, state, args, met=False)


def corrupt(name: str, state: State, /, **args: Json) -> Case:
    """Create a case with corrupt data, which must be unmet."""
    return Case(CaseKind.CORRUPT, name, state, args, met=False)


def missing(name: str, state: State, /, **args: Json) -> Case:
    """Create a case whose object does not exist, which must be unmet."""
    return Case(CaseKind.MISSING, name, state, args, met=False)


def empty(name: str, state: State, /, **args: Json) -> Case:
    """Create a case whose object is empty, which must be unmet."""
    return Case(CaseKind.EMPTY, name, state, args, met=False)


def hostile(name: str, state: State, /, **args: Json) -> Case:
    """Create a case that tries to deceive or overload the evaluator."""
    return Case(CaseKind.HOSTILE, name, state, args, met=False)


def forged(name: str, state: State, /, **args: Json) -> Case:
    """Create a case whose state seems right although nothing happened, which must be unmet."""
    return Case(CaseKind.FORGED, name, state, args, met=False)


def another_way(name: str, state: State, /, **args: Json) -> Case:
    """Create a case with a legitimate result that is reached differently, which must be met."""
    return Case(CaseKind.ANOTHER_WAY, name, state, args, met=True)
