"""What is known of one trial once it is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from pydantic import JsonValue, TypeAdapter

from appliance.base.errors import UnknownNameError, UsageError
from controller.agents.protocol import Usage
from controller.episode.changes import SideEffects  # noqa: TC001 - read by pydantic
from controller.episode.disagreements import Disagreement  # noqa: TC001 - read by pydantic
from evaluators.graph.feedback import Feedback  # noqa: TC001 - read by pydantic
from evaluators.graph.outcome import Verdict  # noqa: TC001 - read by pydantic
from evaluators.metrics.trials import TrialScore

if TYPE_CHECKING:
    from collections.abc import Iterable


class Reason(StrEnum):
    """Why a trial ended; the table in docs/results.md says what verdict follows."""

    SUCCESS = "success"
    """Every node was met, hold nodes checked again."""
    FALSE_COMPLETION = "false_completion"
    """The agent declared the task done and it was not."""
    DECLARED_INFEASIBLE = "declared_infeasible"
    """The agent declared that the task cannot be done; in an infeasible task that is `SUCCESS`."""
    STEP_LIMIT = "step_limit"
    TIME_LIMIT = "time_limit"
    """The agent and the answered calls of its model took too long."""
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - no password
    MONEY_LIMIT = "money_limit"
    REPETITION_LIMIT = "repetition_limit"
    """The same action again and again, and nothing on the screens changed."""
    INVALID_ACTION = "invalid_action"
    """Too many refused actions in a row."""
    AGENT_ERROR = "agent_error"
    """The agent's code raised, or gave up."""
    MODEL_REFUSAL = "model_refusal"
    """The model refuses, or the request is too large for it."""
    MODEL_UNAVAILABLE = "model_unavailable"
    """The model could not be reached, retries included."""
    MACHINE_ENDED_BY_AGENT = "machine_ended_by_agent"
    """A guest shut down, was reset or became unusable from inside."""
    ENVIRONMENT_ERROR = "environment_error"
    """A machine or its host failed from outside."""
    EVALUATOR_ERROR = "evaluator_error"
    """An evaluator raised or was late although its machine answers."""
    TASK_ERROR = "task_error"
    """The task itself is wrong: met at the start, or its setup fails."""
    WALL_LIMIT = "wall_limit"
    """The trial took too long, not by the agent's time."""
    CANCELLED = "cancelled"

    @property
    def is_retried(self) -> bool:
        """Whether an executor may attempt the trial again."""
        return self in {Reason.MODEL_UNAVAILABLE, Reason.ENVIRONMENT_ERROR}


FAILED = frozenset({Reason.AGENT_ERROR, Reason.INVALID_ACTION, Reason.MODEL_REFUSAL})
"""Reasons whose verdict is FAIL, whatever the graph says."""

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
"""Reasons whose verdict is INCONCLUSIVE, whatever the graph says; with others, the graph judges."""


def reasons_to_retry(names: Iterable[str]) -> frozenset[Reason]:
    """Return the reasons that a user means by names: ``inconclusive``, or reasons one by one.

    Raises:
        UsageError: a reason is one whose trials were judged, which stay as they are.
        UnknownNameError: a name is no reason.
    """
    reasons: set[Reason] = set()
    for name in names:
        if name == "inconclusive":
            reasons |= INCONCLUSIVE
        elif name not in set(Reason):
            raise UnknownNameError.of("reason", name, ["inconclusive", *INCONCLUSIVE])
        elif name not in INCONCLUSIVE:
            raise UsageError(
                f"Trials that ended by {name} were judged and are not tried again.",
                resolution="Begin a new run.",
            )
        else:
            reasons.add(Reason(name))
    return frozenset(reasons)


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a trial is over.

    Attributes:
        reason: the category.
        detail: what happened, for people; empty when the reason says it all.
    """

    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class MachineRecord:
    """On what a trial ran: the role, and `provisioning.protocols.MachineInfo` as text."""

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


@dataclass(frozen=True, slots=True)
class TrialResult:
    """How one trial went.

    Attributes:
        task: id of the task.
        repeat: from 0.
        verdict: how it is judged.
        reason: why it ended.
        nodes_met: nodes with credit at the end.
        nodes: of the graph.
        steps: actions carried out.
        seconds: wall time, lease and setup included.
        usage: tokens and their price.
        detail: what went wrong, for people; empty when nothing did.
        machines: on what it ran.
        unmet: why nodes have no credit, in the task's order, without giving the answer away.
        agent_seconds: time charged to the agent.
        side_effects: what it changed beside what it may; None when its machines could not be asked.
        parameters: values of the task's parameters, by name.
        weighted: share of the nodes' weights that has credit; None where no node has a weight.
        disagreements: where guests tell otherwise than the appliance saw.
    """

    task: str
    repeat: int
    verdict: Verdict
    reason: Reason
    nodes_met: int
    nodes: int
    steps: int
    seconds: float
    usage: Usage = field(default_factory=Usage)
    detail: str = ""
    machines: tuple[MachineRecord, ...] = ()
    unmet: tuple[Feedback, ...] = ()
    agent_seconds: float = 0.0
    side_effects: SideEffects | None = None
    parameters: dict[str, JsonValue] = field(default_factory=dict)
    weighted: float | None = None
    disagreements: tuple[Disagreement, ...] = ()

    @property
    def score(self) -> TrialScore:
        """What the metrics need to know of it."""
        return TrialScore(
            self.task, self.verdict, self.nodes_met, self.nodes, self.steps, self.usage.total
        )


TRIAL_RESULT = TypeAdapter(TrialResult)
"""Reads and writes results as JSON."""
