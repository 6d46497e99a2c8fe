"""``mesocosm suite show``: the tasks and figures of a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, console_out, print_json, print_table
from appliance.cli.run_options import Platforms, SubsetOption, Suite, Tags, Tasks

if TYPE_CHECKING:
    from evaluators.loading.suite import Suite as SuiteModel
    from evaluators.metrics.suite_statistics import Figure
    from evaluators.model.task import Task

SeedOption = Annotated[
    int | None,
    typer.Option("--seed", help="Show the values that the first trials draw with this seed."),
]
StatsOption = Annotated[
    bool,
    typer.Option(
        "--stats", help="Show figures of the suite, and check those that its suite.yaml declares."
    ),
]


def show(
    suite: Suite,
    seed: SeedOption = None,
    task: Tasks = None,
    tag: Tags = None,
    platform: Platforms = None,
    subset: SubsetOption = "",
    stats: StatsOption = False,
    json: JsonOption = False,
) -> None:
    """Show the tasks of a suite and the functions that it defines, or its figures.

    With a selection of tasks, figures are not compared with those that the suite declares.
    """
    from controller.selection import narrow
    from controller.wiring import open_suite

    opened = open_suite(suite, task or ())
    if task or tag or platform or subset:
        opened = narrow(opened, task or (), tag or (), platforms=platform or (), subset=subset)
    if stats:
        _show_statistics(opened, json=json)
        return
    shown = opened.tasks if seed is None else [_as_drawn(task, seed) for task in opened.tasks]
    if json:
        tasks = [task.model_dump(mode="json", by_alias=True) for task in shown]
        print_json({**brief(opened), "tasks": tasks, "functions": _own(opened)})
    else:
        _print_tasks(opened, shown)


def digest(suite: SuiteModel) -> dict[str, str]:
    """Return name and digest of a suite as JSON."""
    return {"name": suite.name, "digest": suite.digest}


def brief(suite: SuiteModel) -> dict[str, object]:
    """Return what identifies a suite, and the ids of its tasks, as JSON."""
    return {
        **digest(suite),
        "version": suite.version,
        "description": suite.description,
        "tasks": [task.id for task in suite.tasks],
    }


def _print_tasks(suite: SuiteModel, tasks: tuple[Task, ...] | list[Task]) -> None:
    from rich.table import Table

    functions = [f"{tool['kind']} {tool['name']}" for tool in _own(suite)]
    caption = f"defines {', '.join(functions)}" if functions else None
    table = Table(
        "task",
        "roles",
        "nodes",
        "instruction",
        title=f"{suite.name} {suite.version} ({suite.digest[:12]})",
        caption=caption,
        show_lines=True,
    )
    for task in tasks:
        table.add_row(task.id, ", ".join(task.roles), _count_nodes(task), task.instruction)
    print_table(table)


def _show_statistics(suite: SuiteModel, *, json: bool) -> None:
    """Print the figures of a suite.

    Raises:
        Exit: with code 1, a figure is not the declared one.
    """
    from evaluators.metrics.suite_statistics import measure_suite

    statistics = measure_suite(suite.tasks, suite.subtasks)
    figures = statistics.figures(suite.statistics)
    holds = all(figure.holds for figure in figures)
    if json:
        print_json(
            {
                **digest(suite),
                "source": suite.statistics.source,
                "ok": holds,
                "statistics": statistics.to_dict(),
                "figures": [figure.to_dict() for figure in figures],
            }
        )
    else:
        _print_figures(suite, figures)
    if not holds:
        raise typer.Exit(1)


def _print_figures(suite: SuiteModel, figures: list[Figure]) -> None:
    from rich.table import Table
    from rich.text import Text

    title = f"{suite.name} {suite.version} ({suite.digest[:12]})"
    table = Table(title=title, caption=suite.statistics.source or None)
    for name in ("figure", "here", "expected", "within", ""):
        table.add_column(name, justify="left" if name in ("figure", "") else "right")
    for figure in figures:
        expected = "" if figure.expected is None else f"{figure.expected:g}"
        within = f"{figure.within:g}" if figure.within else ""
        mark = Text("" if figure.expected is None else "holds", "green")
        if not figure.holds:
            mark = Text("differs", "red")
        table.add_row(figure.name, f"{figure.value:.4g}", expected, within, mark)
    print_table(table)
    differing = sum(not figure.holds for figure in figures)
    if differing:
        count = "1 figure is" if differing == 1 else f"{differing} figures are"
        console_out().print(Text(f"{count} not as suite.yaml declares.", "red"))


def _count_nodes(task: Task) -> str:
    """Return how many nodes earn credit, and how many are only guards."""
    earning = len(task.credit_nodes)
    guards = len(task.graph) - earning
    if not guards:
        return str(earning)
    return f"{earning} and {guards} {'guard' if guards == 1 else 'guards'}"


def _as_drawn(task: Task, seed: int) -> Task:
    """Return a task with the values that the first trial of a run with this seed draws."""
    from controller.specification.run import trial_seed
    from evaluators.parameters.binding import bind_task

    return bind_task(task, trial_seed(seed, task.id, 0)).task


def _own(suite: SuiteModel) -> list[dict[str, str]]:
    """Return the functions that a suite defines."""
    return [
        {"kind": tool.mark.kind, "on": tool.on, "name": tool.name} for tool in suite.vocabulary.own
    ]
