"""Read an attempt's log as a trajectory: turns, with what models were sent, actions, and their outcomes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from controller.specification.agent import agent_name, model_name
from controller.specification.run import trial_seed
from controller.store.schema import member_of, usage_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.episode.result import TrialResult
    from controller.models.usage import Usage
    from controller.specification.run import RunSpec
    from controller.store.regrade_record import Regrade
    from controller.store.runs import Attempt, RunFolder

PHASES = ("act", "settle", "observe", "evaluate")
"""Parts of the time that the environment takes for an action."""
_TOKENS = ("prompt_ids", "output_ids", "log_probs")

Row = dict[str, Any]


@dataclass(slots=True)
class Exchange:
    """A request to a model and its reply, exactly as they were recorded.

    Attributes:
        messages: what it was sent, in the form of `controller.models.conversation`.
        tools: tools that it could call; empty if there were none.
        reply: its reply; None if it did not answer.
        stop: why the reply ended; empty without a reply.
        seconds: how long the answered request took; None if it is unknown.
        tokens: ``prompt_ids``, ``output_ids`` and ``log_probs``, those that the server reported.
    """

    messages: Sequence[Row]
    tools: Sequence[Row] = ()
    reply: Row | None = None
    stop: str = ""
    seconds: float | None = None
    tokens: dict[str, list[Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deed:
    """An action that was carried out or refused.

    Attributes:
        action: ``on``, ``do`` and ``with``; None for a reply that named no action.
        why: why it was refused; empty if it was carried out.
        code: code of the refusal; empty if it was carried out.
        met: nodes of the graph that it met.
        screens: digest of each machine's screenshot after it, by role.
        returned: text that it returned; empty if it returned none.
        picture: digest of the picture that it returned; empty if it returned none.
        seconds: time of the environment by phase.
        t: when it was logged, seconds since the epoch.
    """

    action: Row | None
    why: str
    code: str
    met: tuple[str, ...]
    screens: Mapping[str, str]
    returned: str = ""
    picture: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    t: float = 0.0


@dataclass(slots=True)
class TrajectoryTurn:
    """A turn of a member.

    Attributes:
        member: its name.
        t: when its first action was logged, seconds since the epoch.
        before: digest of each machine's screenshot before it, by role.
        exchanges: requests to its model since its last turn.
        deeds: its actions.
        note: what it said.
        usage: tokens of its model; None if it has none.
        agent_s: time charged to the member; None if it is unknown.
        handed: what it told other members, and further fields of a turn that acts on no machine.
        is_consultation: whether it acts on no machine.
    """

    member: str
    t: float
    before: Mapping[str, str]
    exchanges: list[Exchange] = field(default_factory=list)
    deeds: list[Deed] = field(default_factory=list)
    note: str = ""
    usage: Usage | None = None
    agent_s: float | None = None
    handed: Row = field(default_factory=dict)
    is_consultation: bool = False

    @property
    def model_s(self) -> float | None:
        """Time of the model's answered requests; None if it is unknown."""
        known = [one.seconds for one in self.exchanges if one.seconds is not None]
        return sum(known) if known else None

    @property
    def environment_s(self) -> dict[str, float]:
        """Time of the environment by phase."""
        return {
            phase: round(sum(deed.seconds.get(phase, 0.0) for deed in self.deeds), 4)
            for phase in PHASES
        }

    @property
    def met(self) -> tuple[str, ...]:
        """Nodes of the graph that it met."""
        return tuple(node for deed in self.deeds for node in deed.met)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A finished attempt.

    Attributes:
        spec: its run.
        attempt: number of the attempt, from 1.
        started_s: when it began, seconds since the epoch.
        instruction: the task's text.
        prompts: system prompt of each member that has one.
        screens: the first screenshots, digests by role.
        turns: its turns.
        result: its result.
        nodes: state of each node of the graph at the end, and the action that met it.
        regrades: later judgements, oldest first.
    """

    spec: RunSpec
    attempt: int
    started_s: float
    instruction: str
    prompts: Mapping[str, str]
    screens: Mapping[str, str]
    turns: Sequence[TrajectoryTurn]
    result: TrialResult
    nodes: Mapping[str, Row]
    regrades: Sequence[Regrade] = ()

    @property
    def id(self) -> str:
        """Its unique name, which can be that of a file."""
        return f"{self.spec.run}.{self.result.task}.{self.result.repeat}.{self.attempt}"

    @property
    def seed(self) -> int:
        """Seed of the trial."""
        return trial_seed(self.spec.seed, self.result.task, self.result.repeat)

    def agent_of(self, member: str) -> tuple[str, str]:
        """Return the names of a member's agent and model; the latter is empty if it has none."""
        for row in self.spec.agents:
            if row.name == member:
                return agent_name(row.agent), model_name(row.agent)
        return self.spec.agent_name, self.spec.model_name


def read_trajectory(folder: RunFolder, attempt: Attempt) -> Trajectory | None:
    """Return the trajectory of an attempt; None if it did not end, or never began.

    Raises:
        StoreError: its log is damaged.
    """
    result = attempt.result
    if result is None or not attempt.events:
        return None
    reader = _Reader()
    for event in attempt.events:
        reader.read(event)
    reader.finish(attempt.events[-1].get("t", 0.0))
    return Trajectory(
        spec=folder.spec,
        attempt=attempt.number,
        started_s=attempt.events[0]["t"],
        instruction=reader.instruction,
        prompts=reader.prompts,
        screens=reader.first,
        turns=reader.turns,
        result=result,
        nodes=reader.nodes,
        regrades=attempt.regrades,
    )


class _Reader:
    """Collects the turns of a log."""

    def __init__(self) -> None:
        self.instruction = ""
        self.prompts: dict[str, str] = {}
        self.first: Mapping[str, str] = {}
        self.turns: list[TrajectoryTurn] = []
        self.nodes: dict[str, Row] = {}
        self._screens: Mapping[str, str] = {}
        self._contents: dict[str, Any] = {}
        self._parts: dict[str, list[str]] = {}
        self._pending: dict[str, list[Exchange]] = {}

    def read(self, event: Row) -> None:
        """Take one line of the log."""
        match event["type"]:
            case "start":
                self.instruction = event.get("instruction", "")
            case "observation":
                self.first = self._screens = event.get("screens", {})
            case "agent":
                self._read_entry(member_of(event), event["kind"], event.get("data") or {})
            case "step" | "refused":
                self._act(event)
            case "consulted":
                self._consult(event)
            case "end":
                self.nodes = (event.get("graph") or {}).get("nodes", {})

    def finish(self, t: float) -> None:
        """Add a turn for requests that no action followed, such as the last one of a refusing model."""
        for member, exchanges in self._pending.items():
            if exchanges:
                self.turns.append(TrajectoryTurn(member, t, self._screens, exchanges))
        self._pending = {}

    def _read_entry(self, member: str, kind: str, data: Row) -> None:
        pending = self._pending.setdefault(member, [])
        match kind:
            case "prompt":
                self.prompts.setdefault(member, str(data.get("system", "")))
            case "content":
                self._keep(data)
            case "asked":
                messages = [self._contents[digest] for digest in data["messages"]]
                pending.append(Exchange(messages, self._contents.get(data["tools"], ())))
            case "answered" if pending:
                last = pending[-1]
                last.reply = self._contents[data["reply"]]
                last.stop, last.seconds = data["stop"], data["seconds"]
            case "tokens" | "tokens_continued" if pending:
                for name in _TOKENS:
                    if values := data.get(name):
                        pending[-1].tokens.setdefault(name, []).extend(values)

    def _keep(self, data: Row) -> None:
        """Keep a content, which may come in parts."""
        digest = data["digest"]
        if "content" in data:
            self._contents[digest] = data["content"]
            return
        parts = self._parts.setdefault(digest, [])
        parts.append(data["text"])
        if len(parts) == data["parts"]:
            self._contents[digest] = _parsed("".join(self._parts.pop(digest)))

    def _turn(self, event: Row) -> TrajectoryTurn:
        """Return the turn of an event: a new one, if the event is its first."""
        member = member_of(event)
        last = self.turns[-1] if self.turns else None
        is_first = "agent_s" in event or last is None or last.member != member
        if not is_first and last is not None:
            return last
        turn = TrajectoryTurn(
            member,
            event["t"],
            self._screens,
            self._pending.pop(member, []),
            note=str(event.get("note") or ""),
            usage=usage_in(event),
            agent_s=event.get("agent_s"),
        )
        self.turns.append(turn)
        return turn

    def _act(self, event: Row) -> None:
        turn = self._turn(event)
        returned = event.get("returned") or {}
        deed = Deed(
            action=event.get("action"),
            why=str(event.get("why", "")),
            code=str(event.get("code", "refused" if event["type"] == "refused" else "")),
            met=tuple(event.get("met", ())),
            screens=event.get("screens", self._screens),
            returned=str(returned.get("text", "")),
            picture=str(returned.get("picture", "")),
            seconds=event.get("seconds", {}),
            t=event["t"],
        )
        self._screens = deed.screens
        turn.deeds.append(deed)

    def _consult(self, event: Row) -> None:
        turn = self._turn(event)
        turn.is_consultation = True
        known = {"type", "t", "n", "member", "note", "usage", "agent_s"}
        turn.handed = {name: value for name, value in event.items() if name not in known}


def _parsed(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Return a content as JSON; one that was cut off, because it was too long, as a user's text."""
    try:
        return json.loads(text)
    except ValueError:
        return {"role": "user", "parts": [{"text": text}], "is_cut_off": True}
