"""Write benchmark tables to a Markdown page, with one section per benchmark that reruns replace."""

from __future__ import annotations

import platform
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from foundation.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rich.table import Table

    from appliance.bench.rows import Row

EARLY = "ended early: n is the number of samples taken"
_TITLE = """# Benchmarks

Each section was written by the command in its title, with `--page docs/benchmarks.md`. Values are
seconds unless stated otherwise. Failures have no sample. Absolute figures depend on the host:
compare within a section.
"""


def section(
    command: str,
    rows: list[Row],
    *,
    versions: Mapping[str, str],
    now_s: float,
    cores: int,
    is_whole: bool = True,
) -> str:
    """Return a section for rows: title, environment, table.

    Args:
        command: such as ``mesocosm bench reset -n 100``.
        rows: the measurements.
        versions: of the components involved, including the accelerator.
        now_s: unix time.
        cores: CPU cores of the host.
        is_whole: False marks it as ended early.
    """
    lines = [
        "| row | n | failures | p50 | p95 | p99 | what | more |",
        "|---|--:|--:|--:|--:|--:|---|---|",
    ]
    for row in rows:
        values = [row.percentile_s(percent) for percent in (50, 95, 99)]
        shown = [f"{value:.3f}" if value is not None else "-" for value in values]
        more = ", ".join(f"{name} {value:.4g}" for name, value in row.extra.items())
        count = str(len(row.samples_s) + row.failures)
        cells = [row.name, count, str(row.failures), *shown, row.what, more]
        lines.append(f"| {' | '.join(cells)} |")
    return section_with_body(
        command,
        "\n".join(lines),
        versions=versions,
        now_s=now_s,
        cores=cores,
        is_whole=is_whole,
    )


def section_with_body(
    command: str,
    body: str,
    *,
    versions: Mapping[str, str],
    now_s: float,
    cores: int,
    is_whole: bool = True,
) -> str:
    """Return a section with any body; the arguments are those of `section`."""
    day = datetime.fromtimestamp(now_s, tz=UTC).strftime("%Y-%m-%d")
    facts = [day, f"{cores} cores", *(f"{name} {value}" for name, value in versions.items())]
    facts.append(f"Python {platform.python_version()}")
    if not is_whole:
        facts.append(f"**{EARLY}**")
    head = f"## `{command}`\n\n{', '.join(facts)}."
    return f"{head}\n\n{body.rstrip()}\n"


def markdown(table: Table) -> str:
    """Return a rich table as Markdown."""
    rule = ["--:" if column.justify == "right" else "---" for column in table.columns]
    heads = [str(column.header) for column in table.columns]
    rows = zip(*(map(str, column.cells) for column in table.columns), strict=True)
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, rule, *rows))


def put_section(page: Path, text: str) -> None:
    """Replace the section of the same command, ignoring options, or add a new section."""
    old = page.read_text(encoding="utf-8") if page.is_file() else _TITLE
    head, *parts = re.split(r"(?m)^(?=## )", old)
    sections = {_key(part): part.rstrip() + "\n" for part in parts}
    sections[_key(text)] = text
    ordered = [sections[key] for key in sorted(sections)]
    write_atomic(page, "\n".join([head.rstrip() + "\n", *ordered]))


def _key(part: str) -> str:
    """Return the command without its options."""
    title = part.splitlines()[0].strip("#` ")
    return title.split(" -")[0]
