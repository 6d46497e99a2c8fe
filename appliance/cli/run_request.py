"""Build a run request from the command line, for every command that takes one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import typer.main
from typer.core import TyperCommand

from appliance.cli.run_options import (
    ActionSet,
    Agent,
    AgentCommand,
    BaseUrl,
    BudgetSeconds,
    BudgetTokens,
    BudgetUsd,
    Calls,
    CodeOption,
    ConfirmOption,
    Feedback,
    FleetOption,
    History,
    ImageScale,
    InterfaceOption,
    Isolate,
    KeepEndState,
    MaxStalledSteps,
    MaxSteps,
    MaxTokens,
    MaxTurns,
    MaxUsd,
    Model,
    ModelAdapter,
    ModelExtra,
    ModelFamily,
    Observe,
    Order,
    Parallel,
    Pictures,
    Platforms,
    PreflightOption,
    Profile,
    Record,
    RecordRate,
    Repeats,
    ReplayOption,
    Retries,
    Script,
    Seed,
    Solution,
    SubsetOption,
    Suite,
    Tags,
    Tasks,
    Team,
    TimeLimit,
    Trees,
)

if TYPE_CHECKING:
    from controller.specification.request import RunRequest

_GIVEN = "COMMANDLINE"
"""Where a value came from, in Typer's own words; key of the names of such options in a context."""


class RequestCommand(TyperCommand):
    """A command that has the options of a run, in addition to its own; see `request_of`.

    Args:
        settings: as typer passes them to a command's class.
    """

    def __init__(self, *settings: Any, **more: Any) -> None:  # noqa: ANN401 - typer's own
        super().__init__(*settings, **more)
        options = typer.Typer(add_completion=False)
        options.command()(read_options)
        self._request = typer.main.get_command(options)
        self.params += self._request.params

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's own click is private
        """Read the options of the request, and run the command with the others."""
        names = [parameter.name for parameter in self._request.params]
        given = {name for name in names if ctx.get_parameter_source(name).name == _GIVEN}
        ctx.meta[_GIVEN] = frozenset(given)
        values = {name: ctx.params.pop(name) for name in names}
        assert self._request.callback is not None  # noqa: S101 - it is `read_options`
        ctx.obj = self._request.callback(**values)
        return super().invoke(ctx)


class OptionalSuiteCommand(RequestCommand):
    """A command whose suite may be left out, because a file can name it; see `given_options`.

    Args:
        settings: as typer passes them to a command's class.
    """

    def __init__(self, *settings: Any, **more: Any) -> None:  # noqa: ANN401 - typer's own
        super().__init__(*settings, **more)
        for parameter in self._request.params:
            if parameter.name == "suite":
                parameter.required, parameter.default = False, ""


def given_options(context: typer.Context) -> frozenset[str]:
    """Return the names of the options of a run that were given on the command line."""
    return frozenset(context.meta[_GIVEN])


def request_of(context: typer.Context) -> RunRequest:
    """Return the request that a `RequestCommand` was given.

    Raises:
        UsageError: a value is invalid, or there is no suite.
    """
    from controller.specification.request import parse_request
    from foundation.errors import UsageError

    if "suite" not in given_options(context):
        raise UsageError("The suite is missing.", resolution="Name it: mesocosm run SUITE.")
    return parse_request(context.obj)


def read_options(
    suite: Suite,
    agent: Agent = "",
    agent_command: AgentCommand = None,
    repeats: Repeats = 1,
    task: Tasks = None,
    tag: Tags = None,
    platform: Platforms = None,
    subset: SubsetOption = "",
    max_steps: MaxSteps = None,
    max_turns: MaxTurns = None,
    time_limit: TimeLimit = None,
    max_tokens_per_trial: MaxTokens = None,
    max_usd_per_trial: MaxUsd = None,
    max_stalled_steps: MaxStalledSteps = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    budget_seconds: BudgetSeconds = None,
    seed: Seed = 0,
    order: Order = "suite",
    script: Script = None,
    solution: Solution = "",
    replay: ReplayOption = "",
    model: Model = None,
    model_adapter: ModelAdapter = None,
    model_family: ModelFamily = None,
    base_url: BaseUrl = None,
    model_extra: ModelExtra = None,
    image_scale: ImageScale = None,
    interface: InterfaceOption = "both",
    code: CodeOption = False,
    confirm: ConfirmOption = False,
    action_set: ActionSet = None,
    history: History = None,
    pictures: Pictures = None,
    profile: Profile = "",
    observe: Observe = None,
    team: Team = "",
    calls: Calls = None,
    trees: Trees = False,
    feedback: Feedback = "none",
    record: Record = False,
    record_rate: RecordRate = 5.0,
    keep_end_state: KeepEndState = "none",
    parallel: Parallel = 1,
    isolate: Isolate = False,
    retries: Retries = 1,
    preflight: PreflightOption = True,
    fleet: FleetOption = "real",
) -> dict[str, Any]:
    """Return the values of a request, with absolute paths: the service has its own working folder.

    Raises:
        UnknownNameError: there is no such fleet or observation.
        UsageError: a value is invalid.
        RequirementError: recording needs a package that is not installed.
    """
    from controller.agents.custom.http_endpoint import is_endpoint
    from controller.specification.presets import PROFILES, parse_observation
    from controller.wiring import FLEETS
    from foundation.errors import UnknownNameError
    from provisioning.recording.recorder import check_recording

    if record:
        check_recording(record_rate)
    if fleet not in FLEETS:
        raise UnknownNameError.of("fleet", fleet, FLEETS)
    chosen = PROFILES[profile]
    has_code = agent_command is not None or (":" in agent and not is_endpoint(agent))
    return {
        "suite": _absolute_suite(suite),
        "agent": agent,
        "command": agent_command,
        "folder": str(Path.cwd()) if has_code else None,
        "script": None if script is None else str(script.resolve()),
        "solution": solution,
        "adapter": model_adapter or None,
        "family": model_family or None,
        "replay": replay,
        "model": model or None,
        "base_url": base_url or None,
        "extra_fields": json_object(model_extra),
        "image_scale": image_scale,
        "history": chosen.history if history is None else history,
        "pictures": chosen.history if pictures is None else pictures,
        "team": _absolute_team(team),
        "calls": calls,
        "tasks": tuple(task or ()),
        "tags": tuple(tag or ()),
        "platforms": tuple(platform or ()),
        "subset": subset,
        "limits": {
            "steps": chosen.steps if max_steps is None else max_steps,
            "turns": chosen.turns if max_turns is None else max_turns,
            "seconds": time_limit,
            "tokens": max_tokens_per_trial,
            "usd": max_usd_per_trial,
            "stalled_steps": max_stalled_steps,
        },
        "budget": {
            "tokens": budget_tokens,
            "usd": budget_usd,
            "seconds": budget_seconds,
        },
        "repeats": repeats,
        "retries": retries,
        "seed": seed,
        "order": order,
        "keep_end_state": keep_end_state,
        "interface": interface,
        "code": code,
        "confirm": confirm,
        "action_set": action_set or chosen.action_set,
        "observation": parse_observation([*chosen.observe, *(observe or ())]),
        "trees": trees,
        "feedback": feedback,
        "recording_hz": record_rate if record else 0.0,
        "parallel": parallel,
        "isolate": isolate,
        "preflight": preflight,
        "fleet": fleet,
    }


def check_queued(request: RunRequest) -> None:
    """Check a run before it is queued on this host, including that the current worker can run it.

    Raises:
        UsageError: something that it names does not exist, or not in the worker's container.
        SpecError: the suite or the script is invalid.
        RequirementError: the model is unknown, or a package is missing.
    """
    from controller.requests import check_request, require_present
    from controller.service.worker.report import ask_worker
    from foundation.settings import get_settings

    check_request(request)
    settings = get_settings()
    worker = ask_worker(settings)
    if worker is not None and worker.place == "container":
        require_present(request, settings)


def json_object(text: str | None) -> dict[str, Any] | None:
    """Return the JSON object of an option; None if the option is absent.

    Raises:
        UsageError: the value is not a JSON object.
    """
    from json import loads

    from foundation.errors import UsageError

    if text is None:
        return None
    try:
        value = loads(text)
    except ValueError as exc:
        raise UsageError("--model-extra is not JSON.", details=str(exc)) from exc
    if not isinstance(value, dict):
        raise UsageError("--model-extra is not a JSON object.")
    return value


def _absolute_suite(suite: str) -> str:
    """Return the absolute path of a suite's folder; names of built-in suites stay unchanged."""
    from evaluators.loading.suite import list_suites

    is_folder = suite not in list_suites() and Path(suite).exists()
    return str(Path(suite).resolve()) if is_folder else suite


def _absolute_team(team: str) -> str:
    """Return the absolute path of a team's file; names of structures stay unchanged."""
    from controller.specification.team import STRUCTURES

    return str(Path(team).resolve()) if team and team not in STRUCTURES else team
