"""``mesocosm evaluators``: what can be checked, try it on a machine, and see that it is right."""

from __future__ import annotations

import json as json_text
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated, Any

import typer

from appliance.cli.output import JsonOption, console_out, print_json, say

if TYPE_CHECKING:
    from evaluators.casebook.case import Table
    from evaluators.casebook.mutation import Report
    from evaluators.graph.outcome import Outcome
    from evaluators.schema import Tool

ENOUGH = 0.9
"""Share of mutants that must be noticed."""


def _complete(incomplete: str) -> list[str]:
    from evaluators.reference import every_evaluator

    return [tool.name for tool in every_evaluator() if tool.name.startswith(incomplete)]


NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Of an evaluator.", autocompletion=_complete)
]
OnOption = Annotated[str, typer.Option("--on", help="Its place, such as desktop or phone.")]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(no_args_is_help=True, help="List, show, try and examine evaluators.")
    group.command("list")(list_)
    group.command("show")(show)
    group.command("try")(try_)
    group.command("mutate")(mutate)
    group.command("docs")(docs)
    app.add_typer(group, name="evaluators")


def list_(on: OnOption = "", json: JsonOption = False) -> None:
    """List the built-in evaluators."""
    from rich.table import Table as Rows

    from evaluators.reference import every_evaluator, summary_of

    tools = [tool for tool in every_evaluator() if on in {"", tool.on}]
    if json:
        print_json([_shown(tool) for tool in tools])
        return
    rows = Rows("on", "evaluator", "met when", title=f"{len(tools)} evaluators")
    for tool in tools:
        rows.add_row(tool.on, tool.name, summary_of(tool))
    console_out().print(rows)


def show(name: NameArgument, on: OnOption = "", json: JsonOption = False) -> None:
    """Show what an evaluator does, takes, and is shown to do by its cases."""
    import inspect

    from evaluators.reference import find_evaluator

    tool = find_evaluator(name, on)
    cases = [
        {"kind": case.kind.value, "case": case.name, "expected": _word(case.met)}
        for table in _tables((name,), on)
        for case in table.cases
    ]
    if json:
        print_json({**_shown(tool), "cases": cases})
        return
    out = console_out()
    out.print(f"{tool.name}  (on {tool.on})\n", markup=False)
    out.print(inspect.getdoc(tool.mark.function) or "", markup=False)
    for case in cases:
        out.print(f"  {case['expected']:<13} {case['kind']}: {case['case']}", markup=False)


def try_(
    name: NameArgument,
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGUMENT=VALUE]...", help="What it takes.")
    ] = None,
    machine: Annotated[str, typer.Option("--machine", "-m", help="Id or kind of a machine.")] = "",
    on: OnOption = "",
    answer: Annotated[
        str | None, typer.Option(help="The submitted answer, for evaluators of the session.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time it may take.")] = 20.0,
    json: JsonOption = False,
) -> None:
    """Run an evaluator on a machine as it is now; exit with 0 when it is met, else with 1."""
    from evaluators.reference import find_evaluator

    tool = find_evaluator(name, on)
    args = _read_arguments(tool, arguments or [])
    outcome = _evaluate(tool, args, machine, answer, seconds)
    if json:
        print_json({"evaluator": name, "args": args, "met": outcome.met, "reason": outcome.reason})
    else:
        out = console_out()
        out.print(
            f"{_word(outcome.met)}{': ' * bool(outcome.reason)}{outcome.reason}", markup=False
        )
    if outcome.met is not True:
        raise typer.Exit(1)


def mutate(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Of evaluators; all by default.")
    ] = None,
    on: OnOption = "",
    sample: Annotated[
        int | None, typer.Option(min=1, help="Put in only so many of the faults in code.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    module: Annotated[
        list[str] | None,
        typer.Option("--module", help="Only this one, such as desktop.git; repeatable."),
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Markdown file to keep what is found in.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Put faults into code and states, and see whether the cases notice; 1 if fewer than 90 %.

    With a page, or by module, each module is examined by the cases of the evaluators that use it.
    """
    from evaluators.casebook.mutation import mutate_code, mutate_states
    from evaluators.reference import find_evaluator

    if module or page is not None:
        _mutate_modules(module or [], on, page, json=json)
        return
    for name in names or ():
        find_evaluator(name, on)
    tables = _tables(tuple(names or ()), on)
    say(f"{len(tables)} evaluators, {sum(len(table.cases) for table in tables)} cases ...")
    is_whole = not names and not on
    reports = {
        "code": mutate_code(tables, sample=sample, seed=seed, is_whole=is_whole),
        "states": mutate_states(tables),
    }
    if json:
        print_json({what: _counts(report) for what, report in reports.items()})
    else:
        _print_reports(reports)
    if any(report.score < ENOUGH for report in reports.values()):
        raise typer.Exit(1)


def _mutate_modules(wanted: list[str], on: str, page: Path | None, *, json: bool) -> None:
    """Examine modules one by one, and write each into the page as soon as it is known."""
    from appliance.base.errors import UnknownNameError
    from appliance.base.files import write_atomic
    from evaluators.casebook.mutation import (
        mutate_code,
        mutate_states,
        mutated_modules,
        tables_of,
    )
    from evaluators.casebook.page import Examined, update

    tables = _tables((), on)
    known = mutated_modules(tables)
    names = [f"evaluators.{name.removeprefix('evaluators.')}" for name in wanted]
    for name in names:
        if name not in known:
            raise UnknownNameError.of("module", name, known)
    found: dict[str, Examined] = {}
    for name in names or known:
        say(f"{name} ...")
        own = [table for table in tables if table.evaluator.__module__ == name]
        found[name] = Examined(
            mutate_code(tables_of(name, tables), module=name), mutate_states(own)
        )
        if page is not None:
            old = page.read_text(encoding="utf-8") if page.is_file() else ""
            write_atomic(page, update(old, {name: found[name]}))
    reports = {name: {"code": each.code, "states": each.states} for name, each in found.items()}
    if json:
        print_json(
            {
                name: {what: _counts(report) for what, report in each.items()}
                for name, each in reports.items()
            }
        )
    else:
        _print_reports({f"{n} {w}": r for n, each in reports.items() for w, r in each.items()})
    if any(report.score < ENOUGH for each in reports.values() for report in each.values()):
        raise typer.Exit(1)


def docs(file: Annotated[Path, typer.Argument(help="Markdown file to write.")]) -> None:
    """Write the page about all evaluators, from their docstrings."""
    from appliance.base.files import write_atomic

    write_atomic(file, reference_page())


def reference_page() -> str:
    """Give the page about all evaluators, with the numbers of their cases."""
    from evaluators.casebook.judging import all_tables
    from evaluators.reference import render_reference

    return render_reference({f"{each.mark.on}.{each.mark.name}": each for each in all_tables()})


def _tables(names: tuple[str, ...], on: str) -> list[Table]:
    from evaluators.casebook.judging import all_tables

    return [
        table
        for table in all_tables()
        if on in {"", table.mark.on} and (not names or table.mark.name in names)
    ]


def _shown(tool: Tool) -> dict[str, Any]:
    from evaluators.reference import example_of

    return {
        "name": tool.name,
        "on": tool.on,
        "description": tool.description,
        "parameters": tool.parameters(),
        "example": example_of(tool),
    }


def _word(met: bool | None) -> str:
    return {True: "met", False: "unmet", None: "inconclusive"}[met]


def _read_arguments(tool: Tool, words: list[str]) -> dict[str, Any]:
    """Read ``name=value``; a value is text where text is taken, else JSON.

    Raises:
        SpecError: a word has no ``=``, or the arguments are wrong.
    """
    from appliance.base.errors import SpecError

    args: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign:
            raise SpecError(f"{word!r} is no ARGUMENT=VALUE.", resolution=tool.usage)
        args[name] = text
        if any(fault.argument == name for fault in tool.faults(args)):
            args[name] = _json_or(text)
    tool.check(args)
    return args


def _json_or(text: str) -> Any:  # noqa: ANN401
    try:
        return json_text.loads(text)
    except ValueError:
        return text


def _evaluate(
    tool: Tool, args: dict[str, Any], machine: str, answer: str | None, seconds: float
) -> Outcome:
    """Ask one evaluator in a wave of its own."""
    from appliance.base.clock import SYSTEM_CLOCK
    from appliance.base.errors import SpecError
    from appliance.cli.machine import attached
    from controller.actions.session import SessionState
    from controller.wiring import make_runners
    from evaluators.graph.outcome import Call
    from evaluators.model.base import SESSION
    from provisioning.fleet.protocol import Environment

    call = Call("try", tool.name, args)
    state = SessionState(SYSTEM_CLOCK, answer)
    if tool.on == SESSION:
        runners = make_runners(Environment({}), state)
        return runners[SESSION].evaluate([call], timeout_s=seconds)[0]
    if not machine:
        raise SpecError(f"{tool.name} looks at a machine.", resolution="Give --machine.")
    with attached(machine) as found:
        runners = make_runners(Environment({"machine": found}), state)
        return runners["machine"].evaluate([call], timeout_s=seconds)[0]


def _counts(report: Report) -> dict[str, Any]:
    return {
        "faults": len(report.fates),
        "killed": report.killed,
        "equivalent": report.equivalent,
        "score": round(report.score, 4),
        "survivors": [
            {
                "fault": fate.name,
                "how": fate.how,
                "equivalent": fate.equivalent,
                "explained": fate.explained,
            }
            for fate in report.survivors
        ],
    }


def _print_reports(reports: dict[str, Report]) -> None:
    from rich.table import Table as Rows

    rows = Rows("faults in", "put in", "noticed", "change nothing", "score")
    for what, report in reports.items():
        counts = (len(report.fates), report.killed, report.equivalent)
        rows.add_row(what, *map(str, counts), f"{report.score:.1%}")
    out = console_out()
    out.print(rows)
    for report in reports.values():
        for fate in report.survivors:
            why = (
                f"changes nothing: {fate.equivalent}"
                if fate.equivalent
                else f"SURVIVED, {fate.explained or fate.how}"
            )
            out.print(f"{fate.name}\n    {why}", markup=False, soft_wrap=True)
