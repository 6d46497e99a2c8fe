"""Break down a comparison by task, application, complexity, capability, reason and cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from controller.episode.result import MemberShare
from controller.store.run_metrics import completed, passed, read_tracks, values_by_task
from evaluators.metrics.capabilities import AMENDED
from evaluators.metrics.complexity import Dimension, measure_complexity
from evaluators.metrics.intervals import compare, mean_of_tasks
from evaluators.metrics.structure import Structure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from controller.comparison.comparison import RunComparison
    from controller.store.run_metrics import Track
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite
    from provisioning.protocols import Json

Values = dict[str, list[float]]

RATES, TASKS, APPS = "rates", "success rate by task", "success rate by application"
COMPLEXITY, CAPABILITIES = "success rate by complexity", "success rate by capability"
REASONS, COST = "trials by reason", "cost of a trial"
MEMBERS = "members of the team, a trial"
SECTIONS = (RATES, TASKS, APPS, COMPLEXITY, CAPABILITIES, REASONS, COST, MEMBERS)


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of both runs.

    Attributes:
        section: one of `SECTIONS`.
        name: name of the figure, task, application or reason.
        tasks: number of tasks that it covers; None for counts of trials.
        first: value in the first run; None if there is none.
        second: value in the second run; None if there is none.
        difference: second minus first, task by task; None if the runs cannot be paired.
        low: lower end of its 95 % interval over tasks; None with fewer than two tasks.
        high: upper end of that interval.
        p: p-value of the sign-flip test for no difference.
    """

    section: str
    name: str
    tasks: int | None
    first: float | None
    second: float | None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return the line as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A comparison line by line.

    Attributes:
        lines: in the order of `SECTIONS`.
        notes: what is missing and why.
    """

    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()

    def sections(self) -> Iterator[tuple[str, list[Line]]]:
        """Yield the names and lines of all non-empty sections."""
        for name in SECTIONS:
            if lines := [line for line in self.lines if line.section == name]:
                yield name, lines

    def to_dict(self) -> dict[str, Json]:
        """Return the breakdown as JSON."""
        return {"lines": [line.to_dict() for line in self.lines], "notes": list(self.notes)}


def break_down(
    first: RunFolder, second: RunFolder, comparison: RunComparison, suite: Suite | None
) -> Breakdown:
    """Return the figures of a comparison's tasks, line by line.

    Args:
        first: the baseline run.
        second: the other run.
        comparison: their comparison, which lists the identical tasks.
        suite: their suite, for applications and complexity; None omits these.

    Raises:
        StoreError: a log is damaged.
    """
    kept = frozenset(comparison.tasks)
    sides = [[track for track in read_tracks(folder) if track.result.task in kept]
             for folder in (first, second)]  # fmt: skip
    conclusive = [[track for track in side if track.is_conclusive] for side in sides]
    success = [values_by_task(side, passed) for side in conclusive]
    complete = [values_by_task(side, completed) for side in conclusive]
    lines = [_paired(RATES, "SR", *success), _paired(RATES, "CR", *complete)]
    lines += [_paired(TASKS, name, *_only(success, {name})) for name in comparison.tasks]
    notes: tuple[str, ...] = ()
    digests = {first.spec.suite.digest, second.spec.suite.digest}
    if suite is None or suite.digest not in digests:
        notes = (f"Applications and complexity are omitted: {_why(suite, first)}",)
    else:
        lines += _grouped(success, suite, comparison.tasks)
    lines += _reasons(*sides)
    lines += [_cost(name, value, conclusive) for name, value in _COSTS.items()]
    lines += _members(conclusive)
    return Breakdown(tuple(lines), notes)


_COSTS: Mapping[str, Callable[[Track], float]] = {
    "tokens": lambda track: float(track.result.usage.total),
    "USD": lambda track: track.result.usage.usd,
    "steps": lambda track: float(track.result.steps),
    "agent's seconds": lambda track: track.result.agent_seconds,
    "wall seconds": lambda track: track.result.seconds,
}
_OF_MODELS = frozenset({"tokens", "USD"})


def _why(suite: Suite | None, folder: RunFolder) -> str:
    name = folder.spec.suite.name
    if suite is None:
        return f"the suite {name} is not available; pass its folder with --suite."
    return f"the suite {suite.name} differs from that of both runs; pass the original with --suite."


def _only(sides: Sequence[Values], tasks: Collection[str]) -> list[Values]:
    return [{name: values for name, values in side.items() if name in tasks} for side in sides]


def _paired(section: str, name: str, first: Values, second: Values) -> Line:
    """Return the means of both runs over tasks, and their difference task by task."""
    result = compare(first, second)
    low, high = result.interval or (None, None)
    return Line(
        section,
        name,
        result.tasks,
        mean_of_tasks(first.values()),
        mean_of_tasks(second.values()),
        result.difference,
        low,
        high,
        result.p_value,
    )


def _grouped(success: Sequence[Values], suite: Suite, tasks: Sequence[str]) -> Iterator[Line]:
    """Yield success rates by application, level of complexity and capability."""
    structures = {name: Structure.of(suite.task(name)) for name in tasks}
    apps: dict[str, set[str]] = {}
    levels: dict[str, set[str]] = {}
    capabilities: dict[str, set[str]] = {}
    for name, structure in structures.items():
        for app in filter(None, structure.apps.values()):
            apps.setdefault(app, set()).add(name)
        complexity = measure_complexity(structure, suite.applications)
        for dimension in Dimension:
            if level := complexity.level(dimension):
                levels.setdefault(f"{dimension.value}: {level.value}", set()).add(name)
        for title, capability in AMENDED.items():
            if capability.fits(complexity):
                capabilities.setdefault(title, set()).add(name)
    groups = ((APPS, apps), (COMPLEXITY, levels), (CAPABILITIES, capabilities))
    for section, members in groups:
        for title in sorted(members):
            yield _paired(section, title, *_only(success, members[title]))


def _reasons(first: list[Track], second: list[Track]) -> Iterator[Line]:
    """Yield the number of trials that ended for each reason, including inconclusive ones."""
    counts = [Counter(track.result.reason.value for track in side) for side in (first, second)]
    for name in sorted({*counts[0], *counts[1]}):
        yield Line(REASONS, name, None, counts[0][name], counts[1][name])


_OF_MEMBERS: Mapping[str, Callable[[MemberShare], float]] = {
    "turns": lambda share: share.turns,
    "refused": lambda share: sum(share.refused.values()),
    "nodes met": lambda share: len(share.met),
    "tokens": lambda share: float(share.usage.total),
    "USD": lambda share: share.usage.usd,
}


def _members(sides: Sequence[list[Track]]) -> Iterator[Line]:
    """Yield the shares of each member, if a run had several."""
    shares = [share for side in sides for track in side for share in (track.result.members,)]
    if all(len(members) < 2 for members in shares):  # noqa: PLR2004 - a single agent
        return
    for member in sorted({name for members in shares for name in members}):
        for name, value in _OF_MEMBERS.items():

            def of_member(
                track: Track,
                member: str = member,
                value: Callable[[MemberShare], float] = value,
            ) -> float:
                return value(track.result.members.get(member, MemberShare()))

            yield _paired(
                MEMBERS, f"{member}: {name}", *(values_by_task(side, of_member) for side in sides)
            )


def _cost(name: str, value: Callable[[Track], float], sides: Sequence[list[Track]]) -> Line:
    """Return a cost of both runs; one of a model only from trials whose usage is known."""
    known = [
        [track for track in side if track.result.usage.is_known or name not in _OF_MODELS]
        for side in sides
    ]
    return _paired(COST, name, *(values_by_task(side, value) for side in known))
