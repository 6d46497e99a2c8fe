"""Say what each built-in evaluator does: for the command line and for ``docs/evaluators.md``."""

from __future__ import annotations

import importlib
import inspect
import json
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from appliance.base.errors import SpecError, UnknownNameError
from evaluators.catalogue import builtin_evaluators
from evaluators.model.yaml_source import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.casebook.case import Table
    from evaluators.schema import Tool

_HEAD = """\
# Evaluators

Made by `mesocosm evaluators docs docs/evaluators.md` from the docstrings; a test fails when it is
out of date. How tasks name evaluators stands in [tasks.md](tasks.md), how cases show that they can
be trusted in [casebook.md](casebook.md).
"""


@cache
def every_evaluator() -> tuple[Tool, ...]:
    """Give each built-in evaluator once, by place and name."""
    found = {
        (tool.on, tool.name): tool
        for tools in builtin_evaluators().values()
        for tool in tools.values()
    }
    return tuple(found[key] for key in sorted(found))


def find_evaluator(name: str, on: str = "") -> Tool:
    """Give an evaluator by name.

    Args:
        name: of the evaluator.
        on: its place, such as ``desktop``; needed only for a name that two places have.

    Raises:
        UnknownNameError: there is none, with the nearest match.
        SpecError: two places have one of that name.
    """
    tools = [tool for tool in every_evaluator() if on in {"", tool.on}]
    found = [tool for tool in tools if tool.name == name]
    if not found:
        raise UnknownNameError.of("evaluator", name, [tool.name for tool in tools])
    if len(found) > 1:
        places = " and ".join(tool.on for tool in found)
        raise SpecError(f"There is a {name} on {places}.", resolution="Give --on.")
    return found[0]


def example_of(tool: Tool) -> dict[str, Any] | None:
    """Give the node that a docstring has as its example; None when it has none.

    Raises:
        SpecError: it is no YAML mapping.
    """
    text = _example_text(tool)
    if not text:
        return None
    try:
        example = parse_yaml(text)
    except yaml.YAMLError as exc:
        raise SpecError(f"The example of {tool.name} is no YAML.", details=str(exc)) from exc
    if not isinstance(example, dict):
        raise SpecError(f"The example of {tool.name} is no node.", details=text)
    return example


def summary_of(tool: Tool) -> str:
    """Give the first sentence of an evaluator's description, without ``Tell whether``."""
    return tool.description.split("\n")[0].removeprefix("Tell whether ")


def raises_of(tool: Tool) -> str:
    """Give when an evaluator cannot decide, as its docstring says; empty when it does not."""
    return _section_text(tool, "Raises:").partition(": ")[2]


def render_reference(tables: Mapping[str, Table] | None = None) -> str:
    """Write the page about all built-in evaluators, in Markdown.

    Args:
        tables: of cases, by ``PLACE.NAME``; their numbers are shown.
    """
    tools = every_evaluator()
    places = sorted({tool.on for tool in tools})
    counts = ", ".join(f"{sum(tool.on == place for tool in tools)} {place}" for place in places)
    parts = [_HEAD, f"{len(tools)} evaluators: {counts}.\n"]
    for place in places:
        parts.append(f"## {place}\n")
        by_module: dict[str, list[Tool]] = {}
        for tool in tools:
            if tool.on == place:
                by_module.setdefault(tool.mark.function.__module__, []).append(tool)
        for module in sorted(by_module):
            parts.append(f"### {module.rpartition('.')[2]}\n")
            parts.append(f"{_opening(module)}\n")
            parts.extend(
                _section(tool, (tables or {}).get(f"{place}.{tool.name}"))
                for tool in by_module[module]
            )
    return "\n".join(parts)


def _opening(module: str) -> str:
    doc = inspect.getdoc(importlib.import_module(module)) or ""
    return doc.split("\nSource:")[0].strip()


def _section(tool: Tool, table: Table | None) -> str:
    lines = [f"#### {tool.name}", "", *tool.description.split("\n"), ""]
    properties = tool.parameters().get("properties", {})
    required = tool.parameters().get("required", [])
    for name, entry in properties.items():
        default = "" if name in required else f", by default `{json.dumps(entry.get('default'))}`"
        lines.append(f"- `{name}` ({_type(entry)}{default}): {entry.get('description', '')}")
    lines.append("")
    if words := raises_of(tool):
        lines += [f"Cannot decide: {words}", ""]
    if text := _example_text(tool):
        lines += ["```yaml", f"- {text}", "```", ""]
    if table is not None:
        kinds = Counter(case.kind.value for case in table.cases)
        said = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        lines += [f"{len(table.cases)} cases: {said}.", ""]
    return "\n".join(lines)


def _example_text(tool: Tool) -> str:
    return _section_text(tool, "Example:").strip("`")


def _section_text(tool: Tool, head: str) -> str:
    """Give what stands under a head of a docstring, its lines joined."""
    lines = (inspect.getdoc(tool.mark.function) or "").splitlines()
    if head not in lines:
        return ""
    rest = lines[lines.index(head) + 1 :]
    end = next((n for n, line in enumerate(rest) if line and line[0] != " "), len(rest))
    return " ".join(" ".join(rest[:end]).split())


def _type(entry: Mapping[str, Any]) -> str:
    """Name a JSON schema's type in a word or two."""
    if "enum" in entry:
        return " or ".join(f"`{value}`" for value in entry["enum"])
    if "anyOf" in entry:
        return " or ".join(_type(each) for each in entry["anyOf"])
    kind = str(entry.get("type", "any JSON"))
    return f"list of {_type(entry['items'])}" if kind == "array" and "items" in entry else kind
