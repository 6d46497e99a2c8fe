"""Render a comparison of two runs as an HTML page with charts, without scripts or remote content."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from controller.comparison.charts import draw_differences, draw_pairs
from controller.comparison.lines import COST, RATES, REASONS, TASKS
from controller.comparison.text import HEADER, cells, facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from controller.comparison.comparison import RunComparison
    from controller.comparison.lines import Breakdown, Line

_PAIRED = (RATES, TASKS, REASONS)
_STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --back: #fff;
  --first: #8250df; --second: #0969da; --good: #1a7f37; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --back: #0d1117; --first: #ab7df8; --second: #4493f8; --good: #3fb950; --bad: #f85149; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; display: block;
  overflow-x: auto; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
svg { width: 100%; height: auto; font-size: 13px; }
text { fill: var(--text); } .label { text-anchor: end; } .tick { text-anchor: middle; fill: var(--soft); }
.axis { stroke: var(--line); } .span { stroke: var(--soft); stroke-width: 3; }
.better { fill: var(--good); } .worse { fill: var(--bad); } .same { fill: var(--soft); }
rect.first { fill: var(--first); } rect.second { fill: var(--second); }
.key { display: inline-block; width: .8em; height: .8em; } .soft { color: var(--soft); }
"""


def to_html(comparison: RunComparison, breakdown: Breakdown) -> str:
    """Return a comparison as one self-contained page; all text is escaped."""
    title = f"{comparison.first} versus {comparison.second}"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}</title><style>{_STYLE}</style></head>
<body><h1>{escape(title)}</h1>
<p><span class="key" style="background:var(--first)"></span> first: {escape(comparison.first)}
<span class="key" style="background:var(--second)"></span> second: {escape(comparison.second)}</p>
{_compared(comparison)}{_facts(facts(comparison, breakdown))}{to_sections(breakdown)}
<p class="soft">Differences are second minus first, task by task; intervals (95 %) resample tasks;
p is the p-value of a sign-flip test. All tasks have the same weight. Rates exclude inconclusive
trials.</p>
</body></html>
"""


def to_sections(breakdown: Breakdown) -> str:
    """Return headings, charts and tables of a breakdown as HTML; all text is escaped."""
    return "".join(_section(name, lines) for name, lines in breakdown.sections())


def _compared(comparison: RunComparison) -> str:
    rows = [(row.name, str(row.first), str(row.second)) for row in comparison.differences]
    return _table(("compared", comparison.first, comparison.second), rows) if rows else ""


def _facts(rows: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(row)}</li>" for row in rows)
    return f"<ul>{items}</ul>" if rows else ""


def _section(name: str, lines: Sequence[Line]) -> str:
    title = name.capitalize()
    return f"<h2>{escape(title)}</h2>{_charts(name, lines)}{_table(HEADER, map(cells, lines))}"


def _charts(name: str, lines: Sequence[Line]) -> str:
    """Draw the charts of a section: bars for counts and shares, differences for rates."""
    charts = []
    if name in _PAIRED:
        charts.append(draw_pairs(f"{name}: both runs", lines))
    if name == COST:
        # Units differ from line to line.
        charts += [draw_pairs(f"{line.name} per trial: both runs", [line]) for line in lines]
    elif name != REASONS:
        charts.append(draw_differences(f"{name}: difference", lines))
    return "".join(charts)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
