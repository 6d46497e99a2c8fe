"""Specification of a run: everything that can affect its scores, as data with a digest."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from controller.specification.agent import (
    AgentSpec,
    Member,
    Record,
    agent_name,
    model_name,
    require_unique,
)
from controller.specification.observation import ObservationSpec
from controller.specification.team import SINGLE, TeamSpec
from foundation.errors import UsageError
from foundation.files import digest_json

SCHEMA_VERSION: Final = 3
"""Schema version of written ``run.json`` files and event logs.

Version 2 had a single agent without a name instead of members; its runs are read as version 3.
"""


KeepPolicy = Literal["none", "failed", "all"]
"""The trials whose end states are kept: none, those without a PASS, or all."""
Order = Literal["suite", "shuffled"]
FleetName = Literal["", "real", "fake"]
"""This appliance's machines (real) or in-memory ones (fake); empty if it was not recorded."""


class SuiteSpec(Record):
    """The suite of a run.

    Attributes:
        name: name of the suite.
        version: version assigned by the suite's author.
        digest: SHA-256 of the content of the suite's files.
        folder: folder that it was read from; empty for built-in suites.
    """

    name: str
    version: str
    digest: str
    folder: str = Field(default="", exclude_if=lambda value: not value)


class TaskSpec(Record):
    """One task of a run, with digests that identify it.

    Attributes:
        id: its name in the suite.
        text: digest of the instruction.
        machines: digest of the roles, their kinds, and their permitted network access.
        setup: digest of the setup steps and of the functions that they run.
        graph: digest of the nodes.
        limits: digest of the limits.
        evaluators: digest of each evaluator that the graph uses, by place and name.
    """

    id: str
    text: str = ""
    machines: str = ""
    setup: str = ""
    graph: str = ""
    limits: str = ""
    evaluators: dict[str, str] = Field(default={})

    def differences(self, other: TaskSpec) -> tuple[str, ...]:
        """Return the names of the parts in which two tasks differ; evaluators are listed singly."""
        parts = [
            part
            for part in ("text", "machines", "setup", "graph", "limits")
            if getattr(self, part) != getattr(other, part)
        ]
        names = sorted({*self.evaluators, *other.evaluators})
        changed = [
            f"evaluator {name}"
            for name in names
            if self.evaluators.get(name) != other.evaluators.get(name)
        ]
        return (*parts, *changed)


Interface = Literal["gui", "tools", "both"]
"""What agents act with: the screen, the tools that a task offers, or both."""


ActionSetName = Literal["own", "crab"]
"""The actions on machines and session: Mesocosm's own and the suite's, or those of CRAB (its table 2)."""


class ActionSpec(Record):
    """How agents may act.

    Attributes:
        interface: what they act with; tasks that offer no tools leave only the session with `tools`.
        code: whether they may run code on desktops: a Python kernel and a shell.
        confirm: whether a person confirms each action.
        action_set: which actions machines and session have.
    """

    interface: Interface = "both"
    code: bool = False
    confirm: bool = False
    action_set: ActionSetName = Field(default="own", exclude_if=lambda value: value == "own")

    @property
    def groups(self) -> frozenset[str]:
        """The groups of actions on machines that agents are offered."""
        groups = {"gui"} if self.interface != "tools" else set()
        return frozenset(groups | ({"code"} if self.code else set()))

    @property
    def has_tools(self) -> bool:
        """Whether agents are offered the tools of tasks."""
        return self.interface != "gui"


class LimitsSpec(Record):
    """Limits of a run that replace those of its tasks; None keeps the task's limit.

    Attributes:
        steps: executed actions.
        turns: replies of agents, each of which may have several actions.
        seconds: the agent's time.
        tokens: tokens of the model, in both directions.
        usd: price of the model's tokens, US dollars.
        stalled_steps: executed actions since a subtask was last completed.
    """

    steps: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tokens: int | None = Field(default=None, ge=1)
    usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    stalled_steps: int | None = Field(default=None, ge=1, exclude_if=lambda value: value is None)
    turns: int | None = Field(default=None, ge=1, exclude_if=lambda value: value is None)


class BudgetSpec(Record):
    """Limits for all attempts of a run together, including failed ones; None is unlimited.

    Attributes:
        tokens: tokens of the model, in both directions.
        usd: price of the model's tokens, US dollars.
        seconds: total wall time of the attempts.
    """

    tokens: int | None = Field(default=None, ge=1)
    usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @property
    def is_set(self) -> bool:
        """Whether any limit is set."""
        return self != BudgetSpec()

    def replaced_by(self, other: BudgetSpec) -> BudgetSpec:
        """Return this budget updated with the limits that another one sets."""
        return self.model_copy(update=other.model_dump(exclude_none=True))


class CodeSpec(Record):
    """The version of Mesocosm that ran.

    Attributes:
        version: version of the package.
        commit: commit of the source tree; empty if there is no repository.
        is_modified: whether the source tree differs from that commit.
    """

    version: str
    commit: str = ""
    is_modified: bool = False

    def __str__(self) -> str:
        commit = f" ({self.commit[:12]}{', modified' if self.is_modified else ''})"
        return self.version + (commit if self.commit else "")


class RunSpec(Record):
    """The specification of a run.

    Attributes:
        schema_version: schema version of its file.
        run: id of the run.
        started_s: start, seconds since the epoch.
        suite: the suite of the tasks.
        agents: the team that tries them: its members, with their agents.
        team: how its members work together.
        tasks: the tasks, in the order of the suite.
        repeats: trials per task.
        retries: further attempts at a trial whose machines or model failed; one whose machines failed
            before the first step gets one more.
        seed: determines everything random.
        order: order in which trials start: that of the suite, or shuffled by the seed.
        evaluators: digest of the sources of all evaluators.
        action_space: digest of the actions that agents are offered.
        observation: what agents receive before they act.
        actions: how agents may act.
        limits: limits of every trial that replace those of the tasks.
        budget: limits for all attempts together, as originally requested.
        images: recipe digest of each kind of machine, if there is one.
        code: the version of Mesocosm.
        recording_hz: frames per second of recordings; 0 records none.
        keep_end_state: the trials whose machines are kept as they were at the end.
        fleet: the fleet that provides the machines.
    """

    schema_version: Literal[3] = SCHEMA_VERSION
    run: str
    started_s: float
    suite: SuiteSpec
    agents: Annotated[tuple[Member, ...], Field(min_length=1), AfterValidator(require_unique)]
    team: TeamSpec = Field(default=SINGLE, exclude_if=lambda value: value.is_single)
    tasks: tuple[TaskSpec, ...]
    repeats: int = Field(ge=1)
    retries: int = Field(default=0, ge=0)
    seed: int = 0
    order: Order = "suite"
    evaluators: str = ""
    action_space: str = ""
    observation: ObservationSpec = ObservationSpec()
    actions: ActionSpec = Field(
        default=ActionSpec(), exclude_if=lambda value: value == ActionSpec()
    )
    limits: LimitsSpec = LimitsSpec()
    budget: BudgetSpec = BudgetSpec()
    images: dict[str, str] = Field(default={})
    code: CodeSpec
    recording_hz: float = 0.0
    keep_end_state: KeepPolicy = "none"
    fleet: FleetName = Field(default="", exclude_if=lambda value: not value)

    @property
    def planned(self) -> list[tuple[str, int]]:
        """All trials as (task, repeat), sorted by repeat and then in the order of the suite."""
        return [(task.id, repeat) for repeat in range(self.repeats) for task in self.tasks]

    @property
    def sequence(self) -> list[tuple[str, int]]:
        """All trials as (task, repeat), in starting order; the same when the run is resumed."""
        if self.order == "suite":
            return self.planned
        return sorted(self.planned, key=lambda trial: digest_json([self.seed, "order", *trial]))

    @property
    def agent_name(self) -> str:
        """The agent's name in results; those of a team are joined by ``+``, after its structure."""
        names = dict.fromkeys(agent_name(member.agent) for member in self.agents)
        if self.team.is_single:
            return "+".join(agent_name(member.agent) for member in self.agents)
        how = [self.team.structure, *(["json"] if self.team.calls == "json" else [])]
        return f"{','.join(how)}({'+'.join(names)})"

    @property
    def model_name(self) -> str:
        """The names of the models that its members query, joined by ``+``; empty for none."""
        names = dict.fromkeys(model_name(member.agent) for member in self.agents)
        return "+".join(name for name in names if name)

    @property
    def only_agent(self) -> AgentSpec:
        """The agent of a team of one.

        Raises:
            UsageError: the run has several members.
        """
        if len(self.agents) > 1:
            raise UsageError(
                f"The run {self.run} has several members: "
                f"{', '.join(member.name for member in self.agents)}.",
                resolution="Only a program that drives its members can continue it.",
            )
        return self.agents[0].agent

    @property
    def digest(self) -> str:
        """SHA-256 of everything that can affect a score, without id, times, folders and budgets.

        Fake machines can be recognized by the images that the trials record.
        """
        names = ("run", "started_s", "recording_hz", "budget", "keep_end_state", "fleet")
        members = {"__all__": {"agent": {"folder"}}}
        left_out: Any = {**dict.fromkeys(names, True), "agents": members, "suite": {"folder"}}
        kept = self.model_dump(mode="json", exclude=left_out)
        return digest_json(kept)


def trial_seed(seed: int, task: str, repeat: int) -> int:
    """Return the seed of a trial, independent of the run's other tasks."""
    text = f"{seed}/{task}/{repeat}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
