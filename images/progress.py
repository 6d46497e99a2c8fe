"""Show builds on standard error: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from images.recipe import Report

_LINE_CHARS = 70


@contextmanager
def show_builds(console: Console | None = None) -> Iterator[Callable[[str], Report]]:
    """Show one or more concurrent builds, with one line each.

    Args:
        console: output console; standard error by default.

    Yields:
        A function that takes an image's name and returns the `Report` of its build.
    """
    where = console or Console(stderr=True)
    if not where.is_terminal:
        yield lambda title: _Plain(title, where)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[phase]}", style="cyan"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[line]}", style="dim", markup=False),
    )
    with Progress(*columns, console=where, transient=True) as progress:
        yield lambda title: _Bar(title, progress)


@contextmanager
def show_progress(title: str, console: Console | None = None) -> Iterator[Report]:
    """Show one build.

    Args:
        title: name of what is being built.
        console: output console; standard error by default.

    Yields:
        The `Report` for the builder.
    """
    with show_builds(console) as report_of:
        yield report_of(title)


class _Bar:
    """One line of a progress display, which disappears when the build is done."""

    def __init__(self, title: str, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=None, phase="", line="")

    def __call__(self, phase: str, fraction: float | None = None, line: str = "") -> None:
        if phase:
            total = None if fraction is None else 1.0
            self._progress.update(self._task, phase=phase, total=total, completed=fraction or 0.0)
        if line:
            self._progress.update(self._task, line=line[:_LINE_CHARS])
        if phase == "done":
            self._progress.update(self._task, visible=False)


class _Plain:
    """A progress report that prints a line for each new phase."""

    def __init__(self, title: str, console: Console) -> None:
        self._title = title
        self._console = console
        self._phase = ""

    def __call__(self, phase: str, fraction: float | None = None, line: str = "") -> None:
        del fraction
        if phase and phase != self._phase:
            self._phase = phase
            text = f"{self._title}: {phase}: {line}" if line else f"{self._title}: {phase}"
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)
