"""Read a user's choice of a team, specify its members, and make its driver."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import Field, JsonValue, SecretStr, ValidationError

from controller.agents.team.driver import TeamDriver
from controller.agents.team.prompts import member_digest, prompts_digest
from controller.models.adapters import find_adapter, require_model
from controller.models.specification import read_settings, specified_settings, specify_model
from controller.specification.agent import MEMBER, TOOLS, Member, ModelClientSpec, Record
from controller.specification.request import describe_errors
from controller.specification.team import (
    GROUNDER,
    STRUCTURES,
    Calls,
    Structure,
    TeamSpec,
    member_names,
)
from foundation.errors import RequirementError, SpecError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.models.settings import ModelSettings
    from controller.specification.model_choice import ModelChoice
    from controller.specification.run import RunSpec

_OTHERS = "*"


class _MemberChoice(Record):
    """A member in a team's file: its model, and what differs from the settings of all models."""

    model: str | None = None
    base_url: str | None = None
    adapter: str | None = None
    family: str | None = None
    image_scale: float | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    history: int | None = None
    pictures: int | None = None
    extra: dict[str, JsonValue] | None = None
    key: str = ""


class TeamChoice(Record):
    """A team's file.

    Attributes:
        structure: how its members work together.
        calls: how they call actions.
        members: their models by name; ``*`` for all others.
    """

    structure: Structure = "single"
    calls: Calls = "functions"
    members: dict[str, _MemberChoice] = Field(default={})


def read_team(text: str, calls: Calls | None = None) -> TeamChoice:
    """Read a team.

    Args:
        text: a structure, the path of a file, or empty for a single agent.
        calls: how actions are called, in place of what the file says.

    Raises:
        UnknownNameError: it is neither a structure nor a file.
        SpecError: the file is invalid.
    """
    choice = TeamChoice()
    if text in STRUCTURES:
        choice = TeamChoice(structure=text)
    elif text:
        choice = _read_file(Path(text))
    return choice if calls is None else choice.model_copy(update={"calls": calls})


def specify_team(
    choice: TeamChoice, roles: Sequence[str], model: ModelChoice
) -> tuple[TeamSpec, tuple[Member, ...]]:
    """Return the specification of a team and of its members, without secrets.

    Args:
        choice: the user's choice.
        roles: roles of machines in the run's tasks.
        model: the user's choice of the model of members whose own is not named.

    Raises:
        UnknownNameError: the file names a member that the team does not have.
        RequirementError: the settings of a model are incomplete.
        SettingsError: a setting is invalid.
        UsageError: a member that calls actions has a model of a family.
    """
    names = member_names(choice.structure, tuple(roles)) or (MEMBER,)
    for name in choice.members:
        if name not in {*names, _OTHERS}:
            raise UnknownNameError.of(f"member of the team {choice.structure}", name, names)
    digest = prompts_digest()
    members = []
    for name in names:
        row = choice.members.get(name, choice.members.get(_OTHERS, _MemberChoice()))
        settings = require_model(read_settings(**{**_defaults(model), **_overrides(row)}))
        if settings.family != TOOLS and name != GROUNDER:
            raise UsageError(
                f"The member {name} acts in the format of the family {settings.family!r}.",
                details="Members of teams call the appliance's own actions, as tools or as JSON; only "
                "a grounder names places in the format of its family.",
                resolution=f"Use the family {TOOLS} for it, or another model.",
            )
        own = specify_model(settings, member_digest(settings.family))
        members.append(Member(name=name, agent=own, key=row.key))
    return TeamSpec(structure=choice.structure, calls=choice.calls, prompts=digest), tuple(members)


def make_team_driver(spec: RunSpec, model: ModelChoice) -> TeamDriver:
    """Return the driver of a run's team; keys are read now.

    Args:
        spec: the run.
        model: the user's choice of the model of members whose own is not named.

    Raises:
        UsageError: the prompts have changed since the run started.
        RequirementError: a key or a model's package is missing.
    """
    models = [row.agent for row in spec.agents if isinstance(row.agent, ModelClientSpec)]
    is_same = all(row.prompt_digest == member_digest(row.family) for row in models)
    if spec.team.prompts != prompts_digest() or not is_same:
        raise UsageError(
            "The prompts of teams have changed since the run started.",
            resolution="Start a new run, or resume it with the version of Mesocosm that started it.",
        )
    chosen = {member.name: member_settings(member, model) for member in spec.agents}
    for settings in chosen.values():
        find_adapter(settings.adapter).load()
    return TeamDriver(spec.team, chosen)


def member_settings(member: Member, model: ModelChoice) -> ModelSettings:
    """Return the settings of a member's model, with its key.

    Raises:
        UsageError: the member is not a model, or settings differ from those of the run.
        RequirementError: its key is missing.
    """
    agent = member.agent
    if not isinstance(agent, ModelClientSpec):
        raise UsageError(
            f"The member {member.name} of a team is not a model: {agent.kind}.",
            resolution="Only a program that drives its members can continue it.",
        )
    named = {"name": agent.model, "base_url": agent.endpoint, "adapter": agent.adapter}
    named["family"] = agent.family
    if model.base_url and _same_place(model.base_url, agent.endpoint):
        named["base_url"] = model.base_url  # with its credentials
    chosen = read_settings(**named, **_specified(agent))
    settings = require_model(specified_settings(agent, chosen))
    if not member.key:
        return settings
    key = os.environ.get(member.key, "")
    if not key:
        raise RequirementError(
            f"The member {member.name} needs a key, but {member.key} is not set.",
            resolution=f"Set the environment variable {member.key}.",
        )
    return settings.model_copy(update={"api_key": SecretStr(key)})


def _specified(agent: ModelClientSpec) -> dict[str, Any]:
    """Return the fields of a specification that members set for themselves."""
    names = ("image_scale", "history", "pictures", "extra")
    values = {name: getattr(agent, name) for name in names}
    return {**values, **agent.sampling.model_dump()}


def _same_place(address: str, endpoint: str) -> bool:
    return read_settings(base_url=address).endpoint == endpoint


def _defaults(model: ModelChoice) -> dict[str, Any]:
    return {name: value for name, value in model.model_dump().items() if value is not None}


def _overrides(row: _MemberChoice) -> dict[str, Any]:
    values = row.model_dump(exclude={"key", "model"}, exclude_none=True)
    return {**values, **({"name": row.model} if row.model else {})}


def _read_file(path: Path) -> TeamChoice:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as exc:
        raise UnknownNameError.of("team", str(path), [*STRUCTURES, "FILE.yaml"]) from exc
    except yaml.YAMLError as exc:
        raise SpecError(f"{path} is not YAML.", details=str(exc)) from exc
    try:
        return TeamChoice.model_validate(data)
    except ValidationError as exc:
        raise SpecError(
            f"{path} is no valid team.",
            details=describe_errors(exc),
            resolution="Its keys are structure, calls, and members: a model by member's name.",
        ) from exc
