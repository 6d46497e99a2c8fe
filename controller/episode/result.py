"""What is known of one trial once it is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import TypeAdapter

from controller.agents.protocol import Usage
from evaluators.graph.feedback import Feedback  # noqa: TC001 - read by pydantic
from evaluators.graph.outcome import Verdict  # noqa: TC001 - read by pydantic
from evaluators.metrics import TrialScore


class Reason(StrEnum):
    """Why a trial ended."""

    SUCCESS = "success"
    """Every node was met, hold nodes checked again."""
    FALSE_COMPLETION = "false_completion"
    """The agent said that it was done and was not."""
    STEP_LIMIT = "step_limit"
    TIME_LIMIT = "time_limit"
    REPETITION_LIMIT = "repetition_limit"
    """The same action again and again, and nothing on the screens changed."""
    INVALID_ACTION = "invalid_action"
    """Too many refused actions in a row."""
    AGENT_ERROR = "agent_error"
    """The agent could not go on, or the endpoint of its model failed."""
    ENVIRONMENT_ERROR = "environment_error"
    """A machine, a link or an evaluator failed, or a node was met at the start."""
    CANCELLED = "cancelled"


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
        usage: tokens.
        detail: in words, what went wrong; empty when nothing did.
        machines: on what it ran.
        unmet: why nodes have no credit, in the task's order, without giving the answer away.
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

    @property
    def score(self) -> TrialScore:
        """What the metrics need to know of it."""
        return TrialScore(
            self.task, self.verdict, self.nodes_met, self.nodes, self.steps, self.usage.total
        )


TRIAL_RESULT = TypeAdapter(TrialResult)
"""Reads and writes results as JSON."""
