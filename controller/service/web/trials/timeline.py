"""An attempt at a trial as moments to step through, read from its event log."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup

from controller.actions.vocabulary import action_tools
from controller.service.web.drawing.graph import Shape
from controller.specification.agent import MEMBER
from controller.store.schema import member_of, usage_in
from controller.store.steps import describe_handover
from evaluators.coordinates import points_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from controller.store.runs import Attempt
    from provisioning.protocols import Json

PHASES = ("agent", "act", "settle", "observe", "evaluate")
"""Phases of a step, in order."""

_SHOWN = (
    "screens",
    "trees",
    "action",
    "points",
    "code",
    "returned",
    "note",
    "why",
    "met",
    "seconds",
    "tokens",
    "changes",
    "member",
    "handover",
)
_KINDS = {
    "observation": "start",
    "step": "step",
    "consulted": "consulted",
    "refused": "refused",
    "end": "end",
}


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment of the timeline.

    Attributes:
        kind: ``start``, ``step``, ``consulted``, ``refused`` or ``end``.
        number: number of the last executed action.
        time_s: seconds since the epoch.
        screens: digest of each role's picture.
        trees: digest of each role's accessibility tree, if the agent received it.
        member: name of the member of a team whose turn it was; empty for a single agent.
        handover: what it handed to other members, or did not do.
        action: the executed or refused action; None if there is none.
        points: points of the action on its machine's screen, px.
        note: the agent's own text.
        why: why the action was refused, or why the trial ended.
        code: kind of the refusal.
        returned: what the action returned besides the screens: ``text``, digest of ``picture``.
        met: newly met nodes.
        seconds: time spent, by phase.
        tokens: prompt and completion tokens of the model.
        changes: state of each node that differs from the previous moment.
    """

    kind: str
    number: int
    time_s: float
    screens: Mapping[str, str]
    action: Mapping[str, Any] | None = None
    points: Sequence[Json] = ()
    note: str = ""
    why: str = ""
    code: str = ""
    returned: Mapping[str, str] = field(default_factory=dict)
    met: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    tokens: int = 0
    changes: Mapping[str, str] = field(default_factory=dict)
    trees: Mapping[str, str] = field(default_factory=dict)
    member: str = ""
    handover: str = ""

    def to_dict(self) -> dict[str, Json]:
        """Return the moment as JSON for the page's script, without empty fields."""
        row: dict[str, Any] = {"kind": self.kind, "n": self.number, "t": self.time_s}
        for name in _SHOWN:
            if value := getattr(self, name):
                row[name] = value
        return row


@dataclass(frozen=True, slots=True)
class Timeline:
    """An attempt at a trial.

    Attributes:
        run: id of the run.
        task: id of the task.
        repeat: from 0.
        attempt: from 1.
        instruction: the agent's instruction; empty in logs of old versions.
        agent: name of the agent.
        moments: in order.
        shapes: nodes of the graph.
        start: state of each node before the first step.
        videos: name of each role's recording.
        video_s: when recording began, seconds since the epoch.
        end: log line of type ``end``; None if there is none yet.
    """

    run: str
    task: str
    repeat: int
    attempt: int
    instruction: str
    agent: str
    moments: tuple[Moment, ...]
    shapes: tuple[Shape, ...]
    start: Mapping[str, str]
    videos: Mapping[str, str]
    video_s: float
    end: Mapping[str, Any] | None

    @property
    def path(self) -> str:
        """URL path of the trial's page, without the attempt."""
        return f"/runs/{self.run}/trials/{quote(self.task, safe='')}/{self.repeat}"

    @property
    def result(self) -> Mapping[str, Any] | None:
        """Result of the attempt; None if it has not ended."""
        return None if self.end is None else self.end["result"]

    @property
    def has_edges(self) -> bool:
        """Whether the log has the order of the nodes; old logs do not."""
        return any(shape.mode for shape in self.shapes)

    @property
    def roles(self) -> list[str]:
        """Roles that have pictures."""
        return sorted({role for moment in self.moments for role in moment.screens})

    @property
    def highlights(self) -> list[int]:
        """Indexes of the moments with newly met nodes, refused actions, or the end."""
        rows = enumerate(self.moments)
        return [index for index, moment in rows if moment.met or moment.kind in {"refused", "end"}]

    def states_at(self, index: int) -> dict[str, str]:
        """Return the state of each node at a moment."""
        states = dict(self.start)
        for moment in self.moments[: index + 1]:
            states |= moment.changes
        return states

    def data(self, *, first: int = 0) -> dict[str, Json]:
        """Return the data for the page's script, as JSON.

        Args:
            first: index of the first moment to include.
        """
        return {
            "run": self.run,
            "path": self.path,
            "attempt": self.attempt,
            "start": dict(self.start),
            "first": first,
            "moments": [moment.to_dict() for moment in self.moments[first:]],
            "ended": self.end is not None,
            "video_s": self.video_s,
        }


def read_timeline(run: str, task: str, repeat: int, attempt: Attempt) -> Timeline:
    """Read the timeline of an attempt.

    Raises:
        StoreError: its log is damaged.
    """
    events = attempt.events
    by_type: dict[str, dict[str, Any]] = {event["type"]: event for event in events}
    begin, recording = by_type.get("start", {}), by_type.get("recording", {})
    shapes = _shapes(begin, events)
    start = {shape.id: _first_state(shape) for shape in shapes}
    return Timeline(
        run=run,
        task=task,
        repeat=repeat,
        attempt=attempt.number,
        instruction=begin.get("instruction", ""),
        agent="+".join(begin.get("agents", {}).values()) or begin.get("agent", ""),
        moments=tuple(_moments(events, start)),
        shapes=shapes,
        start=start,
        videos=recording.get("videos", {}),
        video_s=recording.get("t", 0.0),
        end=by_type.get("end"),
    )


def embed(value: Json) -> Markup:
    """Return JSON for a ``<script type="application/json">`` that cannot close the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - no markup is left in it


def _moments(events: Sequence[dict[str, Any]], start: Mapping[str, str]) -> Iterable[Moment]:
    states, number = dict(start), 0
    screens: Mapping[str, str] = {}
    for index, event in enumerate(events):
        kind = _KINDS.get(event["type"])
        if kind is None:
            continue
        # The next line has what the agent received.
        trees = next(iter(events[index + 1 : index + 2]), {}).get("trees", {})
        screens, number = event.get("screens", screens), event.get("n", number)
        changes = _changes(event, states)
        states |= changes
        yield replace(_moment(kind, event, number, screens, changes), trees=trees)


def _moment(
    kind: str,
    event: Mapping[str, Any],
    number: int,
    screens: Mapping[str, str],
    changes: Mapping[str, str],
) -> Moment:
    result, usage = event.get("result", {}), usage_in(event)
    seconds = {"agent": event.get("agent_s", 0.0), **event.get("seconds", {})}
    return Moment(
        kind=kind,
        number=number,
        time_s=event["t"],
        screens=screens,
        action=event.get("action"),
        points=event.get("points") or _builtin_points(event.get("action")),
        note=event.get("note", ""),
        why=event.get("why", "") or result.get("detail", ""),
        code=event.get("code", ""),
        returned=event.get("returned", {}),
        met=tuple(event.get("met", ())),
        seconds={phase: seconds[phase] for phase in PHASES if seconds.get(phase)},
        tokens=usage.total if usage else 0,
        changes=changes,
        member="" if member_of(event) == MEMBER else member_of(event),
        handover=describe_handover(event),
    )


def _builtin_points(action: Mapping[str, Any] | None) -> list[Json]:
    """Return the points of a built-in action, which old logs do not have."""
    if not action:
        return []
    tools = (named.get(action["do"]) for named in action_tools().values())
    args = action.get("with", {})
    return next((points for tool in tools if tool and (points := points_in(tool, args))), [])


def _changes(event: Mapping[str, Any], states: Mapping[str, str]) -> dict[str, str]:
    nodes = (event.get("graph") or {}).get("nodes", {})
    return {name: row["state"] for name, row in nodes.items() if states.get(name) != row["state"]}


def _shapes(begin: Mapping[str, Any], events: Iterable[Mapping[str, Any]]) -> tuple[Shape, ...]:
    """Return the nodes from the log's first line; in old logs only their names."""
    if nodes := begin.get("nodes"):
        return tuple(Shape(name, tuple(row["after"]), row["mode"]) for name, row in nodes.items())
    graphs = (event["graph"]["nodes"] for event in events if event.get("graph"))
    return tuple(Shape(name) for name in next(graphs, {}))


def _first_state(shape: Shape) -> str:
    if shape.mode == "keep":
        return "kept"
    return "waiting" if shape.after or not shape.mode else "active"
