"""Specify runs, and check that what a run was specified with is still the same."""

from __future__ import annotations

import importlib.metadata
import logging
from functools import cache
from typing import TYPE_CHECKING

from controller.actions.vocabulary import offered_actions
from controller.selection import with_limits
from controller.specification.agent import Member
from controller.specification.observation import ObservationSpec
from controller.specification.run import (
    ActionSpec,
    BudgetSpec,
    CodeSpec,
    LimitsSpec,
    RunSpec,
    SuiteSpec,
    TaskSpec,
)
from controller.specification.team import SINGLE
from evaluators.loading.suite import BUILTIN
from evaluators.model.oracle import SetupStep, WaitFor
from evaluators.model.suite_files import digest_graph_files, digest_setup_files
from evaluators.rendering.image import RENDERER
from evaluators.source_digest import SourceDigester
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError, ToolError, UsageError
from foundation.files import digest_json
from foundation.ids import new_run_id
from foundation.process import run
from foundation.settings import REPOSITORY, get_settings
from images.recipe_digest import portable_recipe_digest
from provisioning.registry import registry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from controller.specification.agent import AgentSpec
    from controller.specification.run import FleetName, KeepPolicy, Order
    from controller.specification.team import TeamSpec
    from evaluators.catalogue import Tools, Vocabulary
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task
    from evaluators.schema import Tool
    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.resource import ResourceSpec

_log = logging.getLogger(__name__)

_GIT_TIMEOUT_S = 20.0
# Parts of a task that have their own digest or do not affect the score. Fields added to tasks later
# count as part of the graph until they are listed here.
_KNOWN_PARTS = frozenset(
    {"id", "instruction", "roles", "egress", "setup", "graph", "limits", "oracle", "parts"}
    | {"oracles", "must_fail", "legitimate", "may_change", "tags", "difficulty", "source"}
)


def specify_run(  # noqa: PLR0913 - everything that a run can be told
    suite: Suite,
    agent: AgentSpec | tuple[Member, ...],
    *,
    team: TeamSpec = SINGLE,
    tasks: Collection[str] = (),
    repeats: int = 1,
    retries: int = 0,
    seed: int = 0,
    order: Order = "suite",
    observation: ObservationSpec | None = None,
    actions: ActionSpec | None = None,
    limits: LimitsSpec | None = None,
    budget: BudgetSpec | None = None,
    recording_hz: float = 0.0,
    images: Mapping[str, str] | None = None,
    keep_end_state: KeepPolicy = "none",
    fleet: FleetName = "",
    clock: Clock = SYSTEM_CLOCK,
    run: str = "",
) -> RunSpec:
    """Return the specification of a new run of one agent.

    Args:
        suite: the suite of the tasks, in which `limits` already apply.
        agent: the agent that tries them, or the members of a team.
        team: how its members work together.
        tasks: task ids; all by default.
        repeats: trials per task.
        retries: further attempts at a trial whose machines or model failed.
        seed: determines everything random.
        order: the order in which trials start.
        observation: what agents receive in addition to screenshots.
        actions: how agents may act.
        limits: limits that replace those of the suite's tasks.
        budget: limit for all attempts together.
        recording_hz: recorded frames per second of each screen; 0 records none.
        images: recipe digest of each kind of machine.
        keep_end_state: the trials whose machines are kept as they were at the end.
        fleet: the fleet that provides the machines.
        clock: provides the timestamp.
        run: the run's id; a new one by default.

    Raises:
        UnknownNameError: the suite has no such task.
    """
    known = suite.vocabulary
    names = tasks or tuple(task.id for task in suite.tasks)
    digester = SourceDigester()
    return RunSpec(
        run=run or new_run_id(clock),
        started_s=clock.now_s(),
        suite=_specify_suite(suite),
        agents=agent if isinstance(agent, tuple) else (Member(agent=agent),),
        team=team,
        tasks=tuple(
            specify_task(suite.task(name), known, digester) for name in dict.fromkeys(names)
        ),
        repeats=repeats,
        retries=retries,
        seed=seed,
        order=order,
        evaluators=digester.digest_modules(
            tool.mark.function for tools in known.evaluators.values() for tool in tools.values()
        ),
        action_space=_action_space_digest(
            offered_actions((actions or ActionSpec()).action_set, known.actions or {})[0]
        ),
        observation=observation or ObservationSpec(),
        actions=actions or ActionSpec(),
        limits=limits or LimitsSpec(),
        budget=budget or BudgetSpec(),
        images=dict(images or {}),
        code=code_version(),
        recording_hz=recording_hz,
        keep_end_state=keep_end_state,
        fleet=fleet,
    )


def needs_of(spec: RunSpec, suite: Suite) -> set[ResourceSpec]:
    """Return what the tasks of a run need."""
    return {need for task in spec.tasks for need in suite.task(task.id).roles.values()}


def _specify_suite(suite: Suite) -> SuiteSpec:
    folder = suite.vocabulary.folder
    is_shipped = folder is None or folder.resolve().is_relative_to(BUILTIN)
    return SuiteSpec(
        name=suite.name,
        version=suite.version,
        digest=suite.digest,
        folder="" if folder is None or is_shipped else str(folder.resolve()),
    )


def specify_task(task: Task, known: Vocabulary, digester: SourceDigester) -> TaskSpec:
    """Return what identifies a task: digests of its parts and of the code that they run.

    The reference solution is not included: it does not affect an agent's score.
    """
    evaluators = {
        f"{place}.{name}": _evaluator_digest(tool, digester)
        for place, name, tool in _evaluators_of(task, known)
    }
    setups = {
        f"{place}.{step.do}": digester.digest(tool.mark.function)
        for step in task.setup
        if isinstance(step, SetupStep)
        and (place := task.place_of(step.on))
        and (tool := (known.setups or {}).get(place, {}).get(step.do))
    }
    files = digest_setup_files(task, known)
    references = digest_graph_files(task, known)
    parts = task.model_dump(mode="json", by_alias=True)
    others = {name: value for name, value in parts.items() if name not in _KNOWN_PARTS}
    return TaskSpec(
        id=task.id,
        text=digest_json(task.instruction),
        machines=digest_json([parts["roles"], parts.get("egress", {})]),
        setup=digest_json([parts["setup"], setups, *([files] if files else [])]),
        graph=digest_json([parts["graph"], others, *([references] if references else [])]),
        limits=digest_json(parts["limits"]),
        evaluators=dict(sorted(evaluators.items())),
    )


def views_documents(tasks: Iterable[Task], known: Vocabulary) -> bool:
    """Return whether an evaluator of some tasks asks for views of documents."""
    return any(
        tool.mark.views_documents for task in tasks for _, _, tool in _evaluators_of(task, known)
    )


def tasks_of(spec: RunSpec, suite: Suite) -> list[Task]:
    """Return the tasks of a run."""
    return [suite.task(task.id) for task in spec.tasks]


def _evaluators_of(task: Task, known: Vocabulary) -> Iterator[tuple[str, str, Tool]]:
    """Yield place, name and tool of the evaluators that a task names."""
    checks = (
        *(check for node in task.graph for check in node.checks),
        *(step.wait_for for step in task.setup if isinstance(step, WaitFor)),
    )
    for check in checks:
        place = task.place_of(check.on)
        tool = known.evaluators.get(place, {}).get(check.check) if place else None
        if place and tool is not None:
            yield place, check.check, tool


def _evaluator_digest(tool: Tool, digester: SourceDigester) -> str:
    """Return the digest of an evaluator's code, and of the renderer if it judges its views."""
    digest = digester.digest(tool.mark.function)
    return digest_json([digest, _renderer_digest()]) if tool.mark.views_documents else digest


@cache
def _renderer_digest() -> str:
    try:
        return portable_recipe_digest(RENDERER, get_settings())
    except MesocosmError as exc:
        _log.warning("cannot compute the recipe digest of %s: %s", RENDERER, exc)
        return ""


def suite_for(spec: RunSpec, suite: Suite) -> Suite:
    """Return a suite with a run's limits, after checking that the run's tasks are still the same.

    Raises:
        UsageError: a task has changed, or is no longer in the suite.
    """
    suite = with_limits(suite, spec.limits)
    _require_same_tasks(spec, suite)
    return suite


def _require_same_tasks(spec: RunSpec, suite: Suite) -> None:
    digester = SourceDigester()
    present = {task.id: task for task in suite.tasks}
    lines = []
    for then in spec.tasks:
        if then.id not in present:
            lines.append(f"{then.id}: no longer in the suite")
        elif parts := then.differences(specify_task(present[then.id], suite.vocabulary, digester)):
            lines.append(f"{then.id}: {', '.join(parts)}")
    if lines:
        raise UsageError(
            f"Suite {suite.name} has changed since {spec.run} started.",
            details="\n".join(lines),
            resolution="Start a new run, or pass the original suite with --suite.",
        )


def recipes_of(settings: Settings, specs: Iterable[ResourceSpec]) -> dict[str, str]:
    """Return the digests of the image recipes of what tasks need, by key of the specification.

    Remote desktops have none. Recipes that this host cannot build are omitted.
    """
    digests = {}
    for spec in sorted(set(specs), key=str):
        label = registry().chosen(spec.kind, settings).label_of(spec)
        if label is None:
            continue
        try:
            digests[spec.key] = portable_recipe_digest(label, settings)
        except MesocosmError as exc:
            # Whether machines can be had of it is checked, and said, before anything is leased.
            _log.info("cannot compute the recipe digest of %s: %s", label, exc)
    return digests


@cache
def code_version() -> CodeSpec:
    """Return this version of Mesocosm, with the commit if it is configured or in a repository."""
    version = importlib.metadata.version("mesocosm")
    if code := get_settings().code:
        commit, _, modified = code.partition("-")
        return CodeSpec(version=version, commit=commit, is_modified=bool(modified))
    git = ["git", "-C", str(REPOSITORY)]
    try:
        if not (REPOSITORY / ".git").exists():
            return CodeSpec(version=version)
        head = run([*git, "rev-parse", "HEAD"], timeout_s=_GIT_TIMEOUT_S).require()
        changed = run([*git, "status", "--porcelain"], timeout_s=_GIT_TIMEOUT_S).require()
    except ToolError as exc:
        _log.warning("cannot determine the commit of this source tree: %s", exc)
        return CodeSpec(version=version)
    return CodeSpec(version=version, commit=head.text, is_modified=bool(changed.text))


def _action_space_digest(actions: Tools) -> str:
    return digest_json(
        {
            place: {name: tool.declaration() for name, tool in sorted(tools.items())}
            for place, tools in sorted(actions.items())
        }
    )
