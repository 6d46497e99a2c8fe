"""``mesocosm evaluators``: list, show and try evaluators."""

from __future__ import annotations

import json as json_text
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated, Any

import typer

from appliance.cli.groups import make_group
from appliance.cli.output import JsonOption, console_out, print_json, print_table, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.catalogue import Vocabulary
    from evaluators.graph.outcome import Call, Outcome, WaveRunner
    from evaluators.schema import Tool
    from evaluators.testing.index import CaseGroup
    from provisioning.protocols import Machine

    Cases = Mapping[str, tuple[CaseGroup, ...]]


def _complete(incomplete: str) -> list[str]:
    return [tool.name for tool in _listed("") if tool.name.startswith(incomplete)]


NameArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of an evaluator.", autocompletion=_complete),
]
OnOption = Annotated[str, typer.Option("--on", help="What it evaluates, such as desktop or phone.")]
SuiteOption = Annotated[
    str, typer.Option("--suite", help="Name or path of a suite that defines evaluators.")
]
KindsOption = Annotated[bool, typer.Option("--kinds", help="Count test cases by kind.")]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = make_group(no_args_is_help=True, help="List, show and try evaluators.")
    group.command("list")(list_)
    group.command("show")(show)
    group.command("try")(try_)
    group.command("docs")(docs)
    app.add_typer(group, name="evaluators")


def list_(
    on: OnOption = "", suite: SuiteOption = "", kinds: KindsOption = False, json: JsonOption = False
) -> None:
    """List the built-in evaluators, or those that a suite defines."""
    from evaluators.testing.index import kind_counts

    tools = [tool for tool in _listed(suite) if on in {"", tool.on}]
    index = _cases(_known(suite)) if kinds else {}
    if not json:
        _print_list(tools, index, kinds=kinds)
        return
    counts = [
        {"cases": kind_counts(f"{tool.on}.{tool.name}", index)} if kinds else {} for tool in tools
    ]
    print_json([_shown(tool) | more for tool, more in zip(tools, counts, strict=True)])


def _print_list(tools: list[Tool], index: Cases, *, kinds: bool) -> None:
    from rich.table import Table

    from evaluators.reference import proves_state_only, summary_of
    from evaluators.testing.case import CaseKind
    from evaluators.testing.index import kind_counts

    columns = list(CaseKind) if kinds else ["met when", "proves"]
    table = Table(
        "on", "evaluator", *columns, title=f"{len(tools)} evaluator{'s' * (len(tools) != 1)}"
    )
    for tool in tools:
        counts = kind_counts(f"{tool.on}.{tool.name}", index)
        proven = "state" if proves_state_only(tool) else ""
        cells = [str(counts.get(kind, 0)) for kind in CaseKind]
        table.add_row(tool.on, tool.name, *(cells if kinds else [summary_of(tool), proven]))
    print_table(table)
    if not kinds:
        console_out().print("state: proves the state, not who caused it.", markup=False)


def show(
    name: NameArgument, on: OnOption = "", suite: SuiteOption = "", json: JsonOption = False
) -> None:
    """Show an evaluator's description, arguments and test cases."""
    import inspect

    known = _known(suite)
    tool = _find(known, name, on)
    cases = [
        {"kind": group.kind.value, "case": case, "expected": group.expected}
        for group in _cases(known).get(f"{tool.on}.{tool.name}", ())
        for case in group.cases
    ]
    if json:
        print_json({**_shown(tool), "cases": cases})
        return
    out = console_out()
    needs = f", needs {tool.mark.needs}" if tool.mark.needs else ""
    out.print(f"{tool.name}  (on {tool.on}{needs})\n", markup=False)
    out.print(inspect.getdoc(tool.mark.function) or "", markup=False)
    if cases:
        out.print("\nTest cases, each with its expected verdict:", markup=False)
    for case in cases:
        out.print(f"  {case['expected']:<13} {case['kind']}: {case['case']}", markup=False)


def try_(
    name: NameArgument,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ARGUMENT=VALUE]...", help="Its arguments; quote paths in ~."),
    ] = None,
    machine: Annotated[str, typer.Option("--machine", "-m", help="Id or kind of a machine.")] = "",
    on: OnOption = "",
    suite: SuiteOption = "",
    answer: Annotated[
        str | None, typer.Option(help="The submitted answer, for evaluators of the session.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Timeout.")] = 20.0,
    json: JsonOption = False,
) -> None:
    """Run an evaluator on a machine in its current state; exit with 0 if it is met, else with 1.

    INCONCLUSIVE means that the evaluator could not decide. In a trial, such a check is unmet if
    something that the agent made prevented a decision, such as content that takes too long, while
    the machine otherwise answers promptly. A trial also uses a different time limit for a check.
    """
    from evaluators.graph.outcome import Call
    from evaluators.session.answers import MAX_ANSWER_CHARS
    from evaluators.strict import SESSION
    from foundation.errors import SpecError

    if answer is not None and len(answer) > MAX_ANSWER_CHARS:
        raise SpecError(f"The answer has {len(answer)} characters.", f"Limit: {MAX_ANSWER_CHARS}.")
    known = _known(suite)
    tool = _find(known, name, on)
    args = _read_arguments(tool, arguments or [])
    if (tool.on != SESSION) != bool(machine):
        hint = "Add --machine." if tool.on != SESSION else "Omit --machine."
        raise SpecError(f"{tool.name} is for {tool.on}.", resolution=hint)
    outcome = _evaluate(known, Call("try", tool.name, args), machine, answer, seconds)
    if json:
        print_json({"evaluator": name, "args": args, "met": outcome.met, "reason": outcome.reason})
    else:
        out = console_out()
        out.print(
            f"{_verdict(outcome.met)}{': ' * bool(outcome.reason)}{outcome.reason}", markup=False
        )
    if outcome.met is not True:
        raise typer.Exit(1)


def docs(
    file: Annotated[Path, typer.Argument(help="Markdown file to write.")], suite: SuiteOption = ""
) -> None:
    """Write the reference page of the built-in evaluators, or of those that a suite defines."""
    from evaluators.reference import render_reference
    from foundation.files import write_atomic

    write_atomic(file, render_reference(_listed(suite)))


def _known(suite: str) -> Vocabulary:
    """Return the vocabulary that is available to the tasks of a suite, or to any suite."""
    from controller.actions.vocabulary import vocabulary
    from controller.wiring import open_suite

    return open_suite(suite).vocabulary if suite else vocabulary()


def _cases(known: Vocabulary) -> Cases:
    """Return the cases of the built-in evaluators and of those that a suite defines."""
    from evaluators.testing.index import case_index
    from evaluators.testing.suite_cases import read_suite_cases

    own = read_suite_cases(known.folder)
    for file, why in own.unread.items():
        say(f"Cannot read the cases in {file}: {why}")
    return {**own.groups, **case_index()}


def _listed(suite: str) -> list[Tool]:
    """Return the evaluators that a suite defines, or the built-in ones."""
    from evaluators.catalogue import distinct_tools

    known = _known(suite)
    if suite:
        return [tool for tool in known.own if tool.mark.kind == "evaluator"]
    return list(distinct_tools(known.evaluators))


def _find(known: Vocabulary, name: str, on: str) -> Tool:
    from evaluators.catalogue import distinct_tools
    from evaluators.reference import find_evaluator

    return find_evaluator(distinct_tools(known.evaluators), name, on)


def _shown(tool: Tool) -> dict[str, Any]:
    from evaluators.reference import example_of, proves_state_only

    return {
        "name": tool.name,
        "on": tool.on,
        "needs": tool.mark.needs,
        "description": tool.description,
        "proves_state_only": proves_state_only(tool),
        "parameters": tool.parameters(),
        "example": example_of(tool),
    }


def _verdict(met: bool | None) -> str:
    from evaluators.testing.runner import EXPECTED

    return EXPECTED[met]


def _read_arguments(tool: Tool, pairs: list[str]) -> dict[str, Any]:
    """Parse ``name=value`` pairs; a value is text if only text is accepted, else JSON if it parses.

    If both are accepted, ``12`` is the number and ``'"12"'`` the text.

    Raises:
        SpecError: a pair has no ``=``, or the arguments are invalid.
    """
    from foundation.errors import SpecError

    args: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise SpecError(f"{pair!r} is not ARGUMENT=VALUE.", resolution=tool.usage)
        args[name] = _read_value(tool, name, text)
    tool.check(args)
    return args


def _read_value(tool: Tool, name: str, text: str) -> Any:  # noqa: ANN401
    """Return the value of an argument in its declared type; the text if no type fits."""
    schema = tool.parameters()["properties"].get(name, {})
    options = (text, _json_or(text))
    if schema.get("type") != "string":
        options = options[::-1]
    for value in options:
        if not any(fault.argument == name for fault in tool.faults({name: value})):
            return value
    return _json_or(text)


def _json_or(text: str) -> Any:  # noqa: ANN401
    try:
        return json_text.loads(text, parse_constant=str)
    except ValueError:
        return text


def _runners(
    known: Vocabulary, machines: Mapping[str, Machine], answer: str | None
) -> Mapping[str, WaveRunner]:
    from controller.actions.session import SessionState
    from controller.episode.runners import make_runners
    from foundation.clock import SYSTEM_CLOCK
    from provisioning.lease import Environment

    return make_runners(Environment(dict(machines)), SessionState(SYSTEM_CLOCK, answer), known)


def _evaluate(
    known: Vocabulary, call: Call, machine: str, answer: str | None, timeout_s: float
) -> Outcome:
    """Run one evaluator on a machine, or on the session if no machine is given."""
    from appliance.cli.machine_lookup import attached
    from evaluators.strict import SESSION

    if not machine:
        return _runners(known, {}, answer)[SESSION].evaluate([call], timeout_s=timeout_s)[0]
    with attached(machine) as host_machine:
        runners = _runners(known, {"machine": host_machine}, answer)
        return runners["machine"].evaluate([call], timeout_s=timeout_s)[0]
