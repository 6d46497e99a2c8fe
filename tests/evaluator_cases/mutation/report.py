"""Results of mutation testing."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class MutantResult:
    """The result of one mutant.

    Attributes:
        name: name of the mutant, or of the case and its mutation.
        is_killed: whether a case detects it.
        how: the case that detects it, or why none could.
        equivalent: why it has no relevant effect; empty for all others.
        explained: why no case detects it although it is relevant; empty if not explained.
    """

    name: str
    is_killed: bool
    how: str
    equivalent: str = ""
    explained: str = ""


@dataclass(frozen=True, slots=True)
class MutationReport:
    """The results of many mutants.

    Attributes:
        results: in the order of modules and lines, or of tables and cases.
    """

    results: tuple[MutantResult, ...]

    @property
    def killed(self) -> int:
        """Number of mutants detected."""
        return sum(result.is_killed for result in self.results)

    @property
    def equivalent(self) -> int:
        """Number of undetected mutants without a relevant effect."""
        return sum(not result.is_killed and bool(result.equivalent) for result in self.results)

    @property
    def score(self) -> float:
        """Share of detected mutants among those with a relevant effect; 1 if there are none."""
        total = len(self.results) - self.equivalent
        return self.killed / total if total else 1.0

    @property
    def survivors(self) -> list[MutantResult]:
        """Undetected mutants, including equivalent ones."""
        return [result for result in self.results if not result.is_killed]

    @property
    def unexplained(self) -> list[str]:
        """Names of the undetected mutants that are not declared equivalent."""
        return [result.name for result in self.survivors if not result.equivalent]


def reason_for(name: str, reasons: Mapping[str, str]) -> str:
    """Return the reason of the first pattern that matches a name; empty if none matches."""
    return next((why for pattern, why in reasons.items() if fnmatch.fnmatchcase(name, pattern)), "")
