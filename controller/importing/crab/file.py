"""CRAB's composed tasks in JSON: fields, and the order of the subtasks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import networkx as nx
from pydantic import Field, JsonValue

from foundation.strict import Strict
from foundation.yaml_models import parse

if TYPE_CHECKING:
    from controller.importing.json_source import JsonSource
    from foundation.errors import SpecError

_LINE = "one line for each subtask: its number, and those of the subtasks after it, such as '0 1'"


class CrabSubtask(Strict):
    """One subtask of a task.

    Attributes:
        task: id of the subtask.
        attribute: value of each attribute.
        output: what it tells the next subtask, as its author saw it; None or empty if nothing.
    """

    task: str = Field(min_length=1)
    attribute: dict[str, str]
    output: str | None = None


class CrabTask(Strict):
    """One file.

    Attributes:
        description: the instruction.
        tasks: its subtasks.
        adjlist: their order, as an adjacency list.
        id: the task's id.
        test_finished: a remark of the authors; of no effect.
    """

    description: str = Field(min_length=1)
    tasks: tuple[CrabSubtask, ...] = Field(min_length=1, strict=False)
    adjlist: str
    id: str = Field(min_length=1)
    test_finished: JsonValue = None


def read_crab(source: JsonSource) -> tuple[CrabTask, tuple[tuple[int, ...], ...]]:
    """Return a task and the numbers of the subtasks before each of its subtasks.

    Raises:
        SpecError: a key is unknown or missing, or the adjacency list is wrong; the error names file
            and line.
    """
    task = parse(source, CrabTask)
    return task, _read_order(source, task)


def _read_order(source: JsonSource, task: CrabTask) -> tuple[tuple[int, ...], ...]:
    count = len(task.tasks)
    after: dict[int, list[int]] = {}
    for line in task.adjlist.splitlines():
        if not line.strip():
            continue
        numbers = [_number(source, word, count) for word in line.split()]
        if numbers[0] in after:
            raise _wrong(source, f"the subtask {numbers[0]} has two lines")
        if len(set(numbers)) < len(numbers):
            raise _wrong(source, f"the line {line.strip()!r} names a subtask twice")
        after[numbers[0]] = numbers[1:]
    named = {number for first, rest in after.items() for number in (first, *rest)}
    if lost := sorted(set(range(count)) - named):
        raise _wrong(source, f"the subtask {lost[0]} is missing")
    graph = nx.DiGraph((first, number) for first, rest in after.items() for number in rest)
    if not nx.is_directed_acyclic_graph(graph):
        loop = [edge[0] for edge in nx.find_cycle(graph)]
        shown = " → ".join(map(str, [*loop, loop[0]]))
        raise _wrong(source, f"the subtasks {shown} wait for each other")
    return tuple(
        tuple(sorted(first for first, rest in after.items() if number in rest))
        for number in range(count)
    )


def _number(source: JsonSource, word: str, count: int) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", word):
        raise _wrong(source, f"{word!r} is not the number of a subtask")
    number = int(word)
    if number >= count:
        raise _wrong(source, f"there is no subtask {number}; there are {count}, from 0")
    return number


def _wrong(source: JsonSource, what: str) -> SpecError:
    return source.error(("adjlist",), f"adjacency list: {what}.", resolution=f"Write {_LINE}.")
