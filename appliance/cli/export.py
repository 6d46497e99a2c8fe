"""``mesocosm results export``: runs as rows for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.store.runs import RunFolder

RunNames = Annotated[list[str], typer.Argument(help="Ids of runs, latest, or latest:SUITE,AGENT.")]
RowsOption = Annotated[
    Literal["trials", "steps", "events"],
    typer.Option("--rows", help="One row per attempt, per action, or per log line."),
]
FormatOption = Annotated[
    Literal["jsonl", "csv"] | None,
    typer.Option("--format", help="jsonl by default; csv if --output ends in .csv."),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="File to write or replace; standard output by default."),
]


def export(
    runs: RunNames,
    rows: RowsOption = "trials",
    format_: FormatOption = None,
    output: OutputOption = None,
) -> None:
    """Export runs as JSONL or CSV, including all attempts."""
    from controller.store.runs import Store
    from foundation.errors import UsageError
    from foundation.files import write_atomic
    from foundation.settings import get_settings

    is_csv = format_ == "csv" or (
        format_ is None and output is not None and output.suffix == ".csv"
    )
    if is_csv and rows == "events":
        raise UsageError(
            "Events cannot be exported as CSV: their fields differ.",
            resolution="Export them as jsonl.",
        )
    store = Store(get_settings().runs_dir)
    lines = _lines([store.open(name) for name in runs], rows, is_csv=is_csv)
    if output is not None:
        try:
            write_atomic(output, "".join(lines))
        except OSError as exc:
            raise UsageError(f"Cannot write {output}.", details=str(exc)) from exc
        return
    for line in lines:
        sys.stdout.write(line)
    sys.stdout.flush()


def _lines(
    folders: list[RunFolder], rows: Literal["trials", "steps", "events"], *, is_csv: bool
) -> Iterator[str]:
    from controller.store.export import (
        STEP_COLUMNS,
        TRIAL_COLUMNS,
        as_csv,
        as_jsonl,
        export_rows,
    )

    records = (row for folder in folders for row in export_rows(folder, rows))
    if not is_csv:
        return as_jsonl(records)
    return as_csv(records, TRIAL_COLUMNS if rows == "trials" else STEP_COLUMNS)
