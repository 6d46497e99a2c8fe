"""Scripts of the stand-in model server by which any team plays a task's reference solution.

Each reply is sent once, in order, and has a usage of its own, so that a token that is lost, counted
twice or credited to another member changes a sum.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from controller.actions.space import Action
from controller.agents.replay import recorded_actions
from controller.model_server.script import parse_script
from controller.specification.team import GROUNDER, MAIN, PLANNER, ROOT, TOOL, member_names
from evaluators.model.oracle import Act

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from controller.model_server.script import Script
    from controller.model_server.server import ModelServer
    from controller.specification.team import Calls, Structure
    from controller.store.runs import RunFolder
    from evaluators.model.task import Task

USD_INPUT, USD_OUTPUT, USD_CACHED = Decimal("2.5"), Decimal(10), Decimal("0.25")
"""Prices of a million tokens."""
_SINGLE = "agent"
_MAX_WAIT_S = 10


class Counts(NamedTuple):
    """Tokens that the server reports."""

    input: int
    output: int
    cached: int

    @property
    def usd(self) -> Decimal:
        """Their exact price."""
        fresh = (self.input - self.cached) * USD_INPUT
        return (fresh + self.cached * USD_CACHED + self.output * USD_OUTPUT) / 1_000_000


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of counts."""
    rows = list(counts)
    return Counts(*(sum(row[index] for row in rows) for index in range(3)))


@dataclass(frozen=True, slots=True)
class Plan:
    """What a team does in a task.

    Attributes:
        task: the task.
        actions: the actions, in order.
        passes: whether they solve it.
    """

    task: Task
    actions: tuple[Action, ...]
    passes: bool = True


def plan_of(task: Task, run: RunFolder) -> Plan:
    """Return the reference solution of a task, with the places that the oracle acted on in a run."""
    recorded = iter(recorded_actions(run, task.id))
    actions = []
    for step in next(iter(task.solutions.values())):
        if isinstance(step, Act):
            actions.append(next(recorded, Action(step.do, step.on, step.args)))
        else:
            # A model does not see conditions: it waits as long as a person would.
            seconds = max(1, min(_MAX_WAIT_S, round((step.seconds / 30) ** 2)))
            actions.append(Action("wait", None, {"seconds": seconds}))
    return Plan(task, tuple(actions))


def giving_up(task: Task) -> Plan:
    """Return a plan that declares the task done at once."""
    return Plan(task, (Action("complete"),), passes=False)


@dataclass(slots=True)
class ScriptedTeam:
    """The script of a team, and what the server will report for it.

    Attributes:
        structure: how the members work together.
        how: how they call actions.
        plans: what they do.
        names: the members, which are also the names of their models.
    """

    structure: Structure
    how: Calls
    plans: tuple[Plan, ...]
    names: tuple[str, ...] = ()
    _rules: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    _counts: dict[tuple[str, str], list[Counts]] = field(default_factory=lambda: defaultdict(list))
    _serial: int = 0

    def __post_init__(self) -> None:
        """Write the rules."""
        roles = tuple(sorted({role for plan in self.plans for role in plan.task.kinds}))
        self.names = member_names(self.structure, roles) or (_SINGLE,)
        for plan in self.plans:
            for member, call, when in _said(self.structure, plan):
                self._add(plan, member, call, when)

    def script(self) -> Script:
        """Return the script, with the content that each member must and must not be sent."""
        unused = {"reply": {"text": "unused"}, "when": {"text": "unused"}}
        members = {
            name: {
                "key": key_of(name),
                "rules": self._rules[name] or [unused],
                **self._limits(name),
            }
            for name in self.names
        }
        return parse_script({"members": members})

    def expected(self, server: ModelServer) -> dict[str, dict[str, tuple[int, Counts]]]:
        """Return how often each member was asked in each task, and what it used, by task and member."""
        asked: defaultdict[tuple[str, str], int] = defaultdict(int)
        for record in server.responder.records:
            text = record["system"] if record["model"] != GROUNDER else record["text"]
            task = next(
                plan.task.id
                for plan in self.plans
                if (plan.task.instruction in text) or f"of {plan.task.id}." in text
            )
            asked[task, record["model"]] += 1
        return {
            plan.task.id: {
                name: (count, total(self._counts[plan.task.id, name][:count]))
                for name in self.names
                if (count := asked[plan.task.id, name])
            }
            for plan in self.plans
        }

    def write_file(self, folder: Path, server: ModelServer, adapter: str) -> Path:
        """Write the team's file."""
        base = server.address + ("/v1" if adapter.startswith("openai") else "")
        rows = [f"structure: {self.structure}", "members:"]
        rows += [
            f"  {name}: {{model: {name}, adapter: {adapter}, base_url: '{base}', key: {variable(name)}}}"
            for name in self.names
        ]
        path = folder / f"team-{self.structure}-{self.how}-{adapter}.yaml"
        path.write_text("\n".join(rows))
        return path

    def _limits(self, name: str) -> dict[str, Any]:
        """Return what a member must not be sent."""
        if name in {TOOL, ROOT}:
            return {"images": False}
        if name in {MAIN, PLANNER, _SINGLE}:
            return {}
        if name == GROUNDER:
            return {"must_not_see": ["__click", "The task:"]}
        others = {role for plan in self.plans for role in plan.task.kinds} - {name}
        hidden = [pattern for role in others for pattern in (f"{role}, \\d+ x", f"{role}__")]
        return {"must_not_see": hidden}

    def _add(self, plan: Plan, member: str, call: _Call, when: dict[str, str]) -> None:
        self._serial += 1
        serial = self._serial
        counts = Counts(1000 + 37 * serial, 20 + 3 * serial, 11 * serial)
        self._counts[plan.task.id, member].append(counts)
        if member != GROUNDER:
            when = {"system": re.escape(plan.task.instruction), **when}
        row: dict[str, Any] = {"usage": counts._asdict()}
        if self.how == "json":
            calls = [{"name": call.name, "arguments": call.args}]
            row["text"] = json.dumps({"thought": f"Reply {serial}.", "calls": calls})
        else:
            row["calls"] = [{"name": call.name, "with": call.args}]
        self._rules[member].append({"times": 1, "when": when, "reply": row})


class _Call(NamedTuple):
    name: str
    args: Mapping[str, Any]


def _call(action: Action) -> _Call:
    return _Call(f"{action.on or 'session'}__{action.do}", action.args)


def _tell(member: str, message: str) -> _Call:
    return _Call("session__tell", {"member": member, "message": message})


def _said(structure: Structure, plan: Plan) -> Iterator[tuple[str, _Call, dict[str, str]]]:
    """Yield who says what, and on which condition, in order."""
    if structure == "by-environment":
        first = min(plan.task.kinds)
        yield MAIN, _tell(first, "Look first."), {}
        yield first, _Call("session__skip", {}), {"text": "main tells you: Look first"}
    for number, action in enumerate(plan.actions, 1):
        step = f"Step {number} of {plan.task.id}"
        told = {"text": f"main tells you: {step}\\."}
        if structure == "by-function":
            yield MAIN, _tell(TOOL, f"{step}."), {}
            yield TOOL, _call(action), told
        elif structure == "by-environment":
            member = action.on or ROOT
            yield MAIN, _tell(member, f"{step}."), {}
            yield member, _call(action), told
        elif structure == "planner-grounder" and "x" in action.args:
            target = f"element {number} of {plan.task.id}."
            rest = {name: row for name, row in action.args.items() if name not in {"x", "y"}}
            call = _call(action)
            yield PLANNER, _Call(call.name, {"target": target, **rest}), {}
            point = {name: action.args[name] for name in ("x", "y")}
            yield GROUNDER, _Call("point", point), {"text": f"Find: {re.escape(target)}"}
        else:
            yield PLANNER if structure == "planner-grounder" else _SINGLE, _call(action), {}


def key_of(name: str) -> str:
    """Return the key of a member."""
    return f"sk-of-member-{name}"


def variable(name: str) -> str:
    """Return the environment variable that has a member's key."""
    return f"KEY_OF_{name.upper()}"
