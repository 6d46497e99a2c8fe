"""Tiers of tests, their assignment to workers, and the time budget of each lane.

`make test` runs every test except those marked ``nightly``, whose marker has the reason;
`make test-nightly` also runs those. Tests of one lane that share machines run on one worker.
`make test-fast` runs the tests that `arrange` marks ``fast``, of what has changed (`tests.inner_loop`).
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TIER = "MESOCOSM_TEST_TIER"
"""Environment variable: ``nightly`` runs all tests, with full repetition counts."""
IS_NIGHTLY = os.environ.get(TIER) == "nightly"

SPREAD = "MESOCOSM_TEST_SPREAD"
"""Environment variable: set if tests on VMs may run on several workers, each with separate VMs."""
_SPREAD_GROUPS = 8


def nightly(reason: str) -> pytest.MarkDecorator:
    """Return the mark of a test that runs only in `make test-nightly`.

    Args:
        reason: why `make test` can skip it, one clause.
    """
    return pytest.mark.nightly(reason)


FAST = "fast"
"""Mark of the tests of `make test-fast`, which needs only Python; all of them take two minutes on two cores."""


class Lane(StrEnum):
    """Group of tests with a separate time budget."""

    VM = "vm"
    CONTAINER = "container"
    SERVICE = "service"
    UNIT = "unit"


STAND_IN = pytest.mark.xdist_group(Lane.CONTAINER.value)
"""Mark of tests with an X server on this host: concurrently with another desktop on the same kernel, some windows never appeared."""

BUDGETS_S = {Lane.VM: 1800, Lane.CONTAINER: 960, Lane.SERVICE: 300, Lane.UNIT: 2340}
"""Seconds of one of three workers on two cores, with built images: 30 minutes of `make test`
(docs/decisions/2026-11-27-test-budgets.md)."""
_BUILD_TIMEOUT_S = 900
"""Timeout of tests on containers; the first of them builds an image: three minutes, more on a busy host."""
_ORDER = tuple(Lane)
_CONTAINER_MARKS = {"docker", "phone"}
_SERVICE_MARKS = {"prometheus", "browser"}


def lane_of(marks: Iterable[str]) -> Lane:
    """Return the lane of a test with these mark names."""
    names = set(marks)
    if "vm" in names:
        return Lane.VM
    if names & _CONTAINER_MARKS:
        return Lane.CONTAINER
    return Lane.SERVICE if names & _SERVICE_MARKS else Lane.UNIT


def is_fast(marks: Iterable[str]) -> bool:
    """Return whether a test with these mark names, before `arrange`, belongs to `make test-fast`."""
    names = set(marks)
    # A group means that the test shares something outside Python, such as an X server.
    return lane_of(names) is Lane.UNIT and not names & {"slow", "adb", "libvirt", "xdist_group"}


def find_uncovered(all_tests: Iterable[Path], fast_tests: Iterable[Path]) -> list[Path]:
    """Return the folders of test files that have no fast test.

    Args:
        all_tests: files of the collected tests.
        fast_tests: files of those that are fast.
    """
    return sorted({file.parent for file in all_tests} - {file.parent for file in fast_tests})


def arrange(items: list[pytest.Item]) -> list[pytest.Item]:
    """Record each test's lane, mark fast tests, assign worker groups, and return nightly tests.

    Args:
        items: collected tests; nightly tests are removed in place, except in `make test-nightly`.

    Returns:
        The tests that were removed.
    """
    left = [] if IS_NIGHTLY else [item for item in items if item.get_closest_marker("nightly")]
    items[:] = [item for item in items if item not in set(left)]
    lanes = {item: lane_of(mark.name for mark in item.iter_markers()) for item in items}
    on_vms = sum(lane is Lane.VM for lane in lanes.values())
    count = 0
    for item, lane in lanes.items():
        item.user_properties.append(("lane", lane.value))
        if is_fast(mark.name for mark in item.iter_markers()):
            item.add_marker(FAST)
        shares_machines = lane in {Lane.VM, Lane.CONTAINER}
        group = lane.value if shares_machines else item.nodeid.partition("::")[0]
        if lane is Lane.VM and os.environ.get(SPREAD):
            group = f"{lane.value} {count * _SPREAD_GROUPS // on_vms}"
            count += 1
        if lane is Lane.CONTAINER and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_BUILD_TIMEOUT_S))
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(group))
    return left


def order(items: list[pytest.Item]) -> None:
    """Sort tests in place, long lanes first; keep the order within a lane."""
    items.sort(key=lambda item: _ORDER.index(lane_of(mark.name for mark in item.iter_markers())))


@dataclass
class Times:
    """Seconds by worker and lane, number of tests by lane."""

    seconds: defaultdict[tuple[str, Lane], float] = field(
        default_factory=lambda: defaultdict(float)
    )
    tests: Counter[Lane] = field(default_factory=Counter)

    def add(self, report: pytest.TestReport) -> None:
        """Add the duration of one phase of one test."""
        lane = Lane(str(dict(report.user_properties).get("lane", Lane.UNIT)))
        self.seconds[getattr(report, "worker_id", "main"), lane] += report.duration
        self.tests[lane] += report.when == "call"

    def lines(self) -> list[str]:
        """Return a table of lanes with tests, minutes and budget, then the minutes of each worker by lane."""
        rows = [f"{'lane':<10} {'tests':>6} {'minutes':>8} {'budget':>7}"]
        rows += [
            _row(lane, self.tests[lane], self._sum(lane=lane), BUDGETS_S[lane]) for lane in Lane
        ]
        rows.append(_row("all", self.tests.total(), self._sum(), sum(BUDGETS_S.values())))
        for worker in sorted({worker for worker, _ in self.seconds}):
            parts = {lane: self.seconds[worker, lane] / 60 for lane in Lane}
            shares = ", ".join(f"{lane} {part:.1f}" for lane, part in parts.items() if part)
            rows.append(f"worker {worker}: {self._sum(worker=worker) / 60:.1f} ({shares})")
        return rows

    def _sum(self, *, worker: str = "", lane: Lane | None = None) -> float:
        return sum(
            seconds
            for (ran_on, ran_in), seconds in self.seconds.items()
            if worker in {"", ran_on} and lane in {None, ran_in}
        )


def _row(name: str, tests: int, seconds: float, budget_s: float) -> str:
    over = "  over budget" if seconds > budget_s else ""
    return f"{name:<10} {tests:>6} {seconds / 60:>8.1f} {budget_s / 60:>7.1f}{over}"
