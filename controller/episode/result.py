"""The result of one trial."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from pydantic import JsonValue, TypeAdapter

from controller.episode.changes import SideEffects  # noqa: TC001 - read by pydantic
from controller.episode.disagreements import Disagreement  # noqa: TC001 - read by pydantic
from controller.models.usage import NO_USAGE, Usage
from evaluators.graph.feedback import Feedback  # noqa: TC001 - read by pydantic
from evaluators.graph.outcome import Verdict  # noqa: TC001 - read by pydantic
from evaluators.metrics.trials import TrialScore
from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Reason(StrEnum):
    """Why a trial ended; the table in docs/results.md lists the resulting verdicts."""

    SUCCESS = "success"
    """Every node was met, including rechecked hold nodes."""
    FALSE_COMPLETION = "false_completion"
    """The agent declared the task done although it was not."""
    DECLARED_INFEASIBLE = "declared_infeasible"
    """The agent declared the task infeasible; for an infeasible task the reason is `SUCCESS`."""
    STEP_LIMIT = "step_limit"
    TIME_LIMIT = "time_limit"
    """The agent and the answered calls of its model took too long."""
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - not a password
    MONEY_LIMIT = "money_limit"
    REPETITION_LIMIT = "repetition_limit"
    """The same action was repeated, and nothing on the screens changed."""
    STALLED_LIMIT = "stalled_limit"
    """Too many actions since a subtask was last completed."""
    INVALID_ACTION = "invalid_action"
    """Too many consecutive rejected actions."""
    AGENT_ERROR = "agent_error"
    """The agent's code raised an exception, or gave up."""
    MODEL_REFUSAL = "model_refusal"
    """The model refuses, or the request is too large for it."""
    MODEL_UNAVAILABLE = "model_unavailable"
    """The model could not be reached despite retries."""
    MACHINE_ENDED_BY_AGENT = "machine_ended_by_agent"
    """A guest shut down, was reset or became unusable from inside."""
    ENVIRONMENT_ERROR = "environment_error"
    """A machine or its host failed from outside."""
    EVALUATOR_ERROR = "evaluator_error"
    """An evaluator raised an exception or timed out although its machine answers."""
    TASK_ERROR = "task_error"
    """The task itself is wrong: it is met at the start, or its setup fails."""
    WALL_LIMIT = "wall_limit"
    """The trial exceeded its wall time for reasons other than the agent."""
    CANCELLED = "cancelled"

    @property
    def is_retried(self) -> bool:
        """Whether an executor may attempt the trial again."""
        return self in {Reason.MODEL_UNAVAILABLE, Reason.ENVIRONMENT_ERROR}


FAILED = frozenset({Reason.AGENT_ERROR, Reason.INVALID_ACTION, Reason.MODEL_REFUSAL})
"""Reasons whose verdict is FAIL, regardless of the graph."""

INCONCLUSIVE = frozenset(
    {
        Reason.MODEL_UNAVAILABLE,
        Reason.ENVIRONMENT_ERROR,
        Reason.EVALUATOR_ERROR,
        Reason.TASK_ERROR,
        Reason.WALL_LIMIT,
        Reason.CANCELLED,
    }
)
"""Reasons whose verdict is INCONCLUSIVE; for others not in `FAILED`, the graph decides."""


def reasons_to_retry(names: Iterable[str]) -> frozenset[Reason]:
    """Parse names of reasons: individual ones, or ``inconclusive`` for all inconclusive ones.

    Raises:
        UsageError: trials with that reason were judged and cannot be retried.
        UnknownNameError: there is no such reason.
    """
    reasons: set[Reason] = set()
    for name in names:
        if name == "inconclusive":
            reasons |= INCONCLUSIVE
        elif name not in set(Reason):
            raise UnknownNameError.of("reason", name, ["inconclusive", *INCONCLUSIVE])
        elif name not in INCONCLUSIVE:
            raise UsageError(
                f"Trials that ended with {name} were judged and cannot be retried.",
                resolution="Start a new run.",
            )
        else:
            reasons.add(Reason(name))
    return frozenset(reasons)


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a trial is over.

    Attributes:
        reason: the category.
        detail: human-readable description; empty if the reason is sufficient.
    """

    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class MachineRecord:
    """A machine of a trial: its role, and `provisioning.protocols.MachineInfo` as text."""

    role: str
    machine_id: str
    kind: str
    backend: str
    image: str
    image_digest: str
    accelerator: str
    user: str = ""
    home: str = ""
    browser: str = ""
    is_hand_made: bool = False


@dataclass(frozen=True, slots=True)
class MemberShare:
    """A member's share of a trial.

    Attributes:
        usage: tokens of its model and their price.
        agent_seconds: time charged to it.
        steps: number of its executed actions.
        refused: number of its calls that were refused, by the code of the error: ``unknown_action``,
            ``invalid_arguments``, ``off_screen``, ``unknown_mark``, ``invalid_action`` (refused by the
            machine), ``action`` (failed on the machine), ``unusable_reply``, ``no_action``.
        tool_calls: number of its executed actions that called tool servers.
        distractor_calls: those of them that called servers which do not help with the task.
        turns: number of its turns.
        met: nodes of the graph that its actions met, in order.
    """

    usage: Usage = NO_USAGE
    agent_seconds: float = 0.0
    steps: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    tool_calls: int = 0
    distractor_calls: int = 0
    turns: int = 0
    met: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PressedKeys:
    """Keys that were pressed for the agent before its trial was judged.

    Attributes:
        role: the desktop.
        keys: the keys, pressed together.
        window: title of the window that was brought to the front first; empty for none.
        problem: why they were not pressed; empty if they were.
    """

    role: str
    keys: tuple[str, ...]
    window: str = ""
    problem: str = ""

    def with_problem(self, problem: str) -> PressedKeys:
        """Return the keys, as not pressed."""
        return replace(self, problem=problem)

    def __str__(self) -> str:
        """Describe the keys for people."""
        place = f"{self.role}, {self.window}" if self.window else self.role
        problem = f" (not pressed: {self.problem})" if self.problem else ""
        return f"{'+'.join(self.keys)} on {place}{problem}"


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The result of one trial.

    Attributes:
        task: id of the task.
        repeat: number of the repetition, from 0.
        verdict: the verdict.
        reason: why it ended.
        nodes_met: number of nodes with credit at the end.
        nodes: number of nodes of the graph.
        steps: number of executed actions.
        seconds: wall time, including lease and setup.
        members: the share of each member that took part, by its name.
        detail: human-readable description of what went wrong; empty if nothing did.
        machines: the machines that it ran on.
        unmet: why nodes have no credit, in the task's order, without revealing the answer.
        side_effects: changes that the task does not allow; None if machines could not be queried.
        parameters: values of the task's parameters, by name.
        weighted: weighted share of nodes with credit; None if no node has a weight.
        disagreements: contradictions between guests and the appliance.
        started: whether the agent got its first observation.
        ended_by: name of the member in whose turn the trial ended; empty if it was in nobody's.
        tools_offered: number of tools that agents were offered beside the screen.
        pressed: keys that were pressed for the agent before it was judged, as the task asks for.
    """

    task: str
    repeat: int
    verdict: Verdict
    reason: Reason
    nodes_met: int
    nodes: int
    steps: int
    seconds: float
    members: dict[str, MemberShare] = field(default_factory=dict)
    detail: str = ""
    machines: tuple[MachineRecord, ...] = ()
    unmet: tuple[Feedback, ...] = ()
    side_effects: SideEffects | None = None
    parameters: dict[str, JsonValue] = field(default_factory=dict)
    weighted: float | None = None
    disagreements: tuple[Disagreement, ...] = ()
    started: bool = True
    ended_by: str = ""
    tools_offered: int = 0
    pressed: tuple[PressedKeys, ...] = ()

    @property
    def usage(self) -> Usage:
        """Tokens and their price, of all members."""
        return sum((share.usage for share in self.members.values()), NO_USAGE)

    @property
    def agent_seconds(self) -> float:
        """Time charged to all members."""
        return sum(share.agent_seconds for share in self.members.values())

    @property
    def tool_calls(self) -> int:
        """Number of executed actions that called tools, of all members."""
        return sum(share.tool_calls for share in self.members.values())

    @property
    def score(self) -> TrialScore:
        """The data that metrics need."""
        tokens = self.usage.total if self.usage.is_known else None
        return TrialScore(self.task, self.verdict, self.nodes_met, self.nodes, self.steps, tokens)


TRIAL_RESULT = TypeAdapter(TrialResult)
"""Reads and writes results as JSON."""
