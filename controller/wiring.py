"""The composition root: which fleet, runners, agent and store a command works with."""

from __future__ import annotations

import importlib.metadata
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import UnknownNameError, UsageError
from appliance.base.ids import new_run_id
from appliance.base.measures import record
from controller.actions.vocabulary import vocabulary
from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver
from controller.agents.random_agent import RandomAgent
from controller.episode.context import RunContext
from controller.store.runs import RunFolder, RunSpec, Store
from evaluators.model.suite import load_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from controller.episode.context import Record
    from controller.episode.trial import Driver
    from evaluators.model.suite import Suite
    from provisioning.fleet.protocol import Fleet

AGENTS = ("model", "noop", "oracle", "random", "script")
FLEETS = ("real", "fake")


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What agents can be told.

    Attributes:
        script: file of actions, for ``script``.
        model: name of the model, for ``model``; MESOCOSM_MODEL_NAME by default.
        base_url: of its endpoint; MESOCOSM_MODEL_BASE_URL by default.
    """

    script: Path | None = None
    model: str | None = None
    base_url: str | None = None

    @classmethod
    def from_dict(cls, told: Mapping[str, str]) -> Self:
        """Read what `to_dict` gave; other keys do not count."""
        script = told.get("script")
        return cls(Path(script) if script else None, told.get("model"), told.get("base_url"))

    def to_dict(self) -> dict[str, str]:
        """Give what was told, for ``run.json``; there are no secrets in it."""
        return {name: str(value) for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is to do.

    Attributes:
        suite: where the tasks are from.
        agent: name of the agent, as results show it.
        driver: lets it act.
        tasks: ids; all by default.
        repeats: of each task.
        seed: everything random follows from it.
        options: kept in ``run.json``.
        with_trees: observations hold accessibility trees too.
        video_hz: how often a second screens are recorded; 0 records none.
    """

    suite: Suite
    agent: str
    driver: Driver
    tasks: tuple[str, ...] = ()
    repeats: int = 1
    seed: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    with_trees: bool = False
    video_hz: float = 0.0


def open_suite(reference: str) -> Suite:
    """Read a suite, everything its tasks name checked.

    Raises:
        UnknownNameError: there is no such suite.
        SpecError: a file of it is wrong.
    """
    return load_suite(reference, vocabulary())


def open_fleet(name: str, settings: Settings, say: Callable[[str], None] = lambda _: None) -> Fleet:
    """Give the machines of this appliance (``real``), or machines in memory (``fake``).

    Args:
        name: which of the two.
        settings: where machines are.
        say: told in one line what takes long.

    Raises:
        UnknownNameError: it is neither.
    """
    if name not in FLEETS:
        raise UnknownNameError.of("fleet", name, FLEETS)
    if name == "fake":
        from provisioning.fake import FakeFleet  # noqa: PLC0415 - not needed with real machines

        return FakeFleet()
    from provisioning.fleet.local import LocalFleet  # noqa: PLC0415 - imports libvirt and Docker

    return LocalFleet(settings, say=say)


def make_driver(name: str, options: AgentOptions) -> Driver:
    """Return what drives the trials of an agent; files and settings are read now.

    Raises:
        UnknownNameError: there is no such agent.
        UsageError: an option is missing.
        SpecError: the script cannot be read.
        RequirementError: the model is not known.
    """
    match name:
        case "oracle":
            return OracleDriver()
        case "noop":
            return AgentDriver(NoopAgent)
        case "random":
            return AgentDriver(RandomAgent)
        case "script":
            return _script_driver(options)
        case "model":
            return _model_driver(options)
        case _:
            raise UnknownNameError.of("agent", name, AGENTS)


def _script_driver(options: AgentOptions) -> Driver:
    from controller.agents.script import ScriptAgent, read_script  # noqa: PLC0415

    if options.script is None:
        raise UsageError("The script agent needs a file of actions.", resolution="Give --script.")
    actions = read_script(options.script)
    return AgentDriver(lambda context: ScriptAgent(context, actions))


def _model_driver(options: AgentOptions) -> Driver:
    from controller.agents.model import ModelAgent  # noqa: PLC0415
    from controller.models.settings import ModelSettings  # noqa: PLC0415

    told = {"name": options.model, "base_url": options.base_url}
    given = {key: value for key, value in told.items() if value}
    settings = ModelSettings().model_copy(update=given).require()
    return AgentDriver(
        lambda context: ModelAgent(context, settings),
        allowance_s=settings.outage_s + settings.timeout_s,
    )


def make_context(
    plan: Plan, fleet: Fleet, *, clock: Clock = SYSTEM_CLOCK, take: Record = record
) -> RunContext:
    """Put together what the trials of a run share."""
    return RunContext(
        fleet,
        suite=plan.suite.name,
        agent=plan.agent,
        vocabulary=plan.suite.vocabulary,
        record=take,
        clock=clock,
        with_trees=plan.with_trees,
        video_hz=plan.video_hz,
    )


def plan_of(spec: RunSpec, suite: Suite) -> Plan:
    """Give the plan that a run was made of.

    Args:
        spec: of the run.
        suite: what it was of.

    Raises:
        UsageError: the suite is no longer what it was, or an option of the agent is missing.
        UnknownNameError: there is no such agent any more.
        SpecError: the agent's script cannot be read.
    """
    if suite.digest != spec.suite_digest:
        raise UsageError(
            f"Suite {suite.name} is not what it was when {spec.run} began.",
            details=f"SHA-256 {suite.digest[:12]} now, {spec.suite_digest[:12]} then.",
            resolution="Begin a new run, or name the suite as it was with --suite.",
        )
    options = AgentOptions.from_dict(spec.options)
    return Plan(
        suite=suite,
        agent=spec.agent,
        driver=make_driver(spec.agent, options),
        tasks=spec.tasks,
        repeats=spec.repeats,
        seed=spec.seed,
        options=options.to_dict(),
        with_trees="trees" in spec.options,
        video_hz=float(spec.options.get("video_hz", "0")),
    )


def create_run(plan: Plan, runs_dir: Path, *, clock: Clock = SYSTEM_CLOCK) -> RunFolder:
    """Check a plan and make the folder of its run.

    Raises:
        UnknownNameError: the suite has no such task.
        StoreError: the folder cannot be made.
    """
    told = {"trees": "yes"} if plan.with_trees else {}
    told |= {"video_hz": f"{plan.video_hz:g}"} if plan.video_hz else {}
    tasks = plan.tasks or tuple(task.id for task in plan.suite.tasks)
    spec = RunSpec(
        run=new_run_id(clock),
        suite=plan.suite.name,
        suite_version=plan.suite.version,
        suite_digest=plan.suite.digest,
        agent=plan.agent,
        tasks=tuple(plan.suite.task(name).id for name in dict.fromkeys(tasks)),
        repeats=plan.repeats,
        seed=plan.seed,
        started_s=clock.now_s(),
        version=importlib.metadata.version("mesocosm"),
        options={**plan.options, **told},
    )
    return Store(runs_dir).create(spec)
