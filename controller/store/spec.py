"""What a run was asked to do: everything that can change its scores, as data with a digest."""

from __future__ import annotations

import hashlib
from typing import Any, Final, Literal

from pydantic import Field

from appliance.base.files import digest_json
from controller.store.agent_spec import AgentSpec, Record, agent_name

SCHEMA_VERSION: Final = 2
"""Version of ``run.json`` and of event logs that are written; version 1 can be read."""


KeepPolicy = Literal["none", "failed", "all"]
"""Whose end states are kept: nobody's, those of trials without a PASS, or everybody's."""
Order = Literal["suite", "shuffled"]
FleetName = Literal["", "real", "fake"]
"""Whose machines: this appliance's, or machines in memory; empty where it was not recorded."""


class SuiteSpec(Record):
    """Which suite a run is of.

    Attributes:
        name: of the suite.
        version: as the suite's author counts.
        digest: SHA-256 over everything that the suite's files hold.
        folder: where it was read from; empty for suites that ship.
    """

    name: str
    version: str
    digest: str
    folder: str = Field(default="", exclude_if=lambda value: not value)


class TaskSpec(Record):
    """One task of a run, as digests of what makes it the same task.

    Attributes:
        id: its name in the suite.
        text: digest of the instruction.
        machines: digest of the roles, their kinds, and what they may reach.
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

    @property
    def has_digests(self) -> bool:
        """Whether it says more than its name; runs of schema 1 do not."""
        return bool(self.graph)

    def differences(self, other: TaskSpec) -> tuple[str, ...]:
        """Name the parts in which two tasks differ; evaluators one by one."""
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


class ObservationSpec(Record):
    """What agents are shown beside screenshots.

    Attributes:
        trees: the machines' accessibility trees.
        feedback: how far the task is: nothing, hints of unmet nodes, or all nodes.
    """

    trees: bool = False
    feedback: Literal["none", "hints", "nodes"] = "none"


class LimitsSpec(Record):
    """Limits of a run instead of its tasks' own; None leaves those.

    Attributes:
        steps: actions executed.
        seconds: the agent's time.
        tokens: of the model, in both directions.
        usd: price of the model's tokens, US dollars.
    """

    steps: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tokens: int | None = Field(default=None, ge=1)
    usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)


class BudgetSpec(Record):
    """What all attempts of a run may cost together, those that fail included; None is no limit.

    Attributes:
        tokens: of the model, in both directions.
        usd: price of the model's tokens, US dollars.
        seconds: wall time of the attempts, added up.
    """

    tokens: int | None = Field(default=None, ge=1)
    usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @property
    def is_set(self) -> bool:
        """Whether it limits anything."""
        return self != BudgetSpec()

    def replaced_by(self, other: BudgetSpec) -> BudgetSpec:
        """Return it with those limits of another that are set."""
        return self.model_copy(update=other.model_dump(exclude_none=True))


class CodeSpec(Record):
    """Which Mesocosm ran.

    Attributes:
        version: of the package.
        commit: of the source tree; empty where there is no repository.
        is_modified: the source tree differs from that commit.
    """

    version: str
    commit: str = ""
    is_modified: bool = False

    def __str__(self) -> str:
        commit = f" ({self.commit[:12]}{', modified' if self.is_modified else ''})"
        return self.version + (commit if self.commit else "")


class RunSpec(Record):
    """What a run was asked to do.

    Attributes:
        schema_version: of the file that it was read from.
        run: its id.
        started_s: seconds since the epoch.
        suite: what the tasks are of.
        agent: who tries them.
        tasks: in the order of the suite.
        repeats: trials of each task.
        retries: further attempts at a trial whose machines or model failed.
        seed: everything random follows from it.
        order: in which trials are begun: as tasks stand in the suite, or shuffled by the seed.
        evaluators: digest of the sources of all evaluators.
        action_space: digest of the actions that agents are offered.
        observation: what agents are shown.
        limits: of every trial, instead of the tasks' own.
        budget: of all attempts together, as it was asked for first.
        images: digest of the recipe behind each kind of machine, where there is one.
        code: which Mesocosm ran.
        recording_hz: frames a second of recordings; 0 records none.
        keep_end_state: whose machines are kept as they were at the trial's end.
        fleet: whose machines the trials are on.
    """

    schema_version: Literal[1, 2] = SCHEMA_VERSION
    run: str
    started_s: float
    suite: SuiteSpec
    agent: AgentSpec
    tasks: tuple[TaskSpec, ...]
    repeats: int = Field(ge=1)
    retries: int = Field(default=0, ge=0)
    seed: int = 0
    order: Order = "suite"
    evaluators: str = ""
    action_space: str = ""
    observation: ObservationSpec = ObservationSpec()
    limits: LimitsSpec = LimitsSpec()
    budget: BudgetSpec = BudgetSpec()
    images: dict[str, str] = Field(default={})
    code: CodeSpec
    recording_hz: float = 0.0
    keep_end_state: KeepPolicy = "none"
    fleet: FleetName = Field(default="", exclude_if=lambda value: not value)

    @property
    def planned(self) -> list[tuple[str, int]]:
        """Every trial as task and repeat, repeat by repeat, in the order of the suite."""
        return [(task.id, repeat) for repeat in range(self.repeats) for task in self.tasks]

    @property
    def sequence(self) -> list[tuple[str, int]]:
        """Every trial as task and repeat, in the order of beginning; the same whenever resumed."""
        if self.order == "suite":
            return self.planned
        return sorted(self.planned, key=lambda trial: digest_json([self.seed, "order", *trial]))

    @property
    def agent_name(self) -> str:
        """What results call the agent."""
        return agent_name(self.agent)

    @property
    def digest(self) -> str:
        """SHA-256 over everything that can change a score: not the id, times, folders, budgets.

        Machines in memory are told by the images that the trials name.
        """
        names = ("run", "started_s", "recording_hz", "budget", "keep_end_state", "fleet")
        left_out: Any = {**dict.fromkeys(names, True), "agent": {"folder"}, "suite": {"folder"}}
        kept = self.model_dump(mode="json", exclude=left_out)
        return digest_json(kept)


def trial_seed(seed: int, task: str, repeat: int) -> int:
    """Return a trial's own seed, independent of which other tasks the run has."""
    text = f"{seed}/{task}/{repeat}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
