"""Rows of a benchmark, which turn samples into percentiles.

A benchmark is a generator that yields each row *before* its first sample and fills it when the next
row is requested, so that the caller has all measurements even if it ends early.
"""

from __future__ import annotations

import statistics
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from rich.table import Table

from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from foundation.clock import Clock
    from provisioning.protocols import ResetReport

T = TypeVar("T")


@dataclass(slots=True)
class Row:
    """One measured quantity.

    Attributes:
        name: such as ``rewind``.
        what: one line on what a sample covers.
        samples_s: seconds of each successful attempt.
        failures: number of failed attempts; they have no sample.
        errors: brief message of each failure.
        extra: further facts, such as means by phase in seconds.
    """

    name: str
    what: str
    samples_s: list[float] = field(default_factory=list)
    failures: int = 0
    errors: list[str] = field(default_factory=list)
    extra: dict[str, float] = field(default_factory=dict)

    def measure(self, act: Callable[[], object], clock: Clock) -> bool:
        """Time one attempt; return whether it succeeded."""
        start_s = clock.monotonic_s()
        try:
            act()
        except MesocosmError as exc:
            self.failures += 1
            self.errors.append(exc.brief)
            return False
        self.samples_s.append(clock.monotonic_s() - start_s)
        return True

    def percentile_s(self, percent: float) -> float | None:
        """Return a percentile of the samples, linearly interpolated; None without samples."""
        return float(np.percentile(self.samples_s, percent)) if self.samples_s else None

    def to_dict(self) -> dict[str, object]:
        """Return the row as JSON."""
        return {
            "name": self.name,
            "n": len(self.samples_s) + self.failures,
            "failures": self.failures,
            "p50_s": _rounded(self.percentile_s(50)),
            "p95_s": _rounded(self.percentile_s(95)),
            "p99_s": _rounded(self.percentile_s(99)),
            "what": self.what,
            **{key: round(value, 4) for key, value in self.extra.items()},
            **({"errors": self.errors} if self.errors else {}),
        }


def phase_means(reports: Sequence[ResetReport]) -> dict[str, float]:
    """Return the mean seconds of each phase of resets, as ``<phase>_mean_s``."""
    phases = reports[0].phases_s if reports else ()
    return {
        f"{phase}_mean_s": statistics.fmean(report.phases_s[phase] for report in reports)
        for phase in phases
    }


def collect(source: Generator[T], rows: list[T]) -> None:
    """Collect all rows of a benchmark; those begun are in `rows` even if it raises."""
    with closing(source):
        for row in source:
            rows.append(row)  # noqa: PERF402 - extend() guarantees nothing if interrupted


def table(rows: list[Row], accelerator: str) -> Table:
    """Return a table of rows."""
    drawn = Table(title=f"accelerator {accelerator}; seconds")
    for column in ("name", "n", "failures", "p50", "p95", "p99"):
        drawn.add_column(column, justify="left" if column == "name" else "right")
    drawn.add_column("what")
    for row in rows:
        values = [row.percentile_s(percent) for percent in (50, 95, 99)]
        shown = [f"{value:.3f}" if value is not None else "-" for value in values]
        count = len(row.samples_s) + row.failures
        drawn.add_row(row.name, str(count), str(row.failures), *shown, row.what)
    return drawn


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
