"""Render the page: verdicts, rewinds, machines, last runs. No script, all text escaped."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from monitoring.aggregate import quantile
from monitoring.catalog import CATALOG

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from foundation.measures import Name
    from monitoring.aggregate import Aggregate, Series

VERDICTS = ("PASS", "FAIL", "INCONCLUSIVE")

QUERIES = {
    "Rewind, p99": "histogram_quantile(0.99, sum by (le, kind) (rate(mesocosm_rewind_seconds_bucket[5m])))",
    "Trials by verdict": "sum by (suite, verdict) (mesocosm_verdicts_total)",
    "Steps per minute": "sum by (agent) (rate(mesocosm_steps_total[5m])) * 60",
    "Machines": "sum by (kind, state) (mesocosm_machines)",
    "Link errors": "sum by (code) (increase(mesocosm_link_errors_total[1h]))",
}
"""Graphs over time that the page links to: PromQL by title."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run for the table.

    Attributes:
        run: ID of the run.
        suite: name of the suite.
        agent: name of the agent.
        started_s: seconds since the epoch.
        verdicts: number of trials by verdict.
    """

    run: str
    suite: str
    agent: str
    started_s: float
    verdicts: Mapping[str, int]

    @property
    def started(self) -> str:
        """The start time, in UTC."""
        return datetime.fromtimestamp(self.started_s, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a histogram.

    Attributes:
        label: upper bound of its bucket.
        count: values in it.
        height: 0 to 100, relative to the highest bar.
    """

    label: str
    count: int
    height: float


@dataclass(frozen=True, slots=True)
class Timing:
    """A histogram as figures and bars.

    Attributes:
        title: the measure and its label values.
        count: number of values.
        p50_s: estimated median.
        p95_s: estimated 95th percentile.
        mean_s: exact mean.
        bars: the used buckets, and the one below.
    """

    title: str
    count: int
    p50_s: float
    p95_s: float
    mean_s: float
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class PageContext:
    """Data on the page that does not come from measures.

    Attributes:
        version: version of Mesocosm.
        accelerator: ``kvm``, ``tcg`` or ``unknown``.
        prometheus_url: URL of this appliance's Prometheus for links on the page; empty for none.
        silent: returns the names of what does not answer now, such as ``hypervisor``.
    """

    version: str
    accelerator: str
    prometheus_url: str
    silent: Callable[[], Sequence[str]] = tuple


def render(
    totals: Aggregate,
    machines: Mapping[tuple[str, str], int],
    runs: Sequence[RunRow],
    context: PageContext,
    *,
    now_s: float,
) -> str:
    """Return the page as HTML.

    Args:
        totals: all measures.
        machines: number of machines by kind and state.
        runs: newest first.
        context: version, accelerator, URLs.
        now_s: seconds since the epoch, shown as the page's time.
    """
    verdicts = totals.sums("verdicts_total", "verdict")
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            context=context,
            now=datetime.fromtimestamp(now_s, tz=UTC).strftime("%Y-%m-%d %H:%M:%S"),
            verdicts={name: int(verdicts.get(name, 0)) for name in VERDICTS},
            trials=int(sum(verdicts.values())),
            steps=int(sum(totals.sums("steps_total", "suite").values())),
            resets=_counts(totals, "resets_total", "result"),
            timings=[*_timings(totals, "rewind_seconds"), *_timings(totals, "boot_seconds")],
            phases=_timings(totals, "step_seconds"),
            reasons=_counts(totals, "trials_ended_total", "reason"),
            link_errors=_counts(totals, "link_errors_total", "code"),
            machines=sorted(machines.items()),
            silent=context.silent(),
            runs=runs,
            queries={title: _graph_url(context, expr) for title, expr in QUERIES.items()},
        )
    )


def style() -> str:
    """Return the page's style sheet."""
    return _environment().get_template("page.css.j2").render()


def _counts(totals: Aggregate, name: Name, label: str) -> list[tuple[str, int]]:
    sums = totals.sums(name, label).items()
    return sorted(((key, int(value)) for key, value in sums), key=lambda row: (-row[1], row[0]))


def _timings(totals: Aggregate, name: Name) -> list[Timing]:
    what = name.removesuffix("_seconds")
    rows = sorted(totals.items(name), key=lambda row: row[0])
    return [
        _timing(" · ".join(dict.fromkeys((what, *key))), name, series)
        for key, series in rows
        if series.count
    ]


def _timing(title: str, name: Name, series: Series) -> Timing:
    bounds = CATALOG[name].buckets or ()
    used = [at for at, count in enumerate(series.counts) if count]
    shown = range(max(0, used[0] - 1), used[-1] + 1)
    top = max(series.counts)
    mean_s = series.total / series.count
    # A single value is known exactly; its bucket is less precise.
    ratios = [
        quantile(bounds, series.counts, ratio) if series.count > 1 else mean_s
        for ratio in (0.5, 0.95)
    ]
    labels = [*(f"{bound:g}" for bound in bounds), "more"]
    return Timing(
        title,
        series.count,
        ratios[0] or 0.0,
        ratios[1] or 0.0,
        mean_s,
        tuple(Bar(labels[at], series.counts[at], 100 * series.counts[at] / top) for at in shown),
    )


def _graph_url(context: PageContext, expression: str) -> str:
    query = f"g0.expr={quote(expression)}&g0.tab=0&g0.range_input=1h"
    return f"{context.prometheus_url}/graph?{query}"


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("monitoring", "."),
        autoescape=select_autoescape(enabled_extensions=("html.j2",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
