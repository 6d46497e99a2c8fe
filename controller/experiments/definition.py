"""Experiment files: rows that are listed or crossed, and what all rows share."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from controller.specification.run import (
    ActionSetName,
    BudgetSpec,
    Interface,
    KeepPolicy,
    LimitsSpec,
    Order,
)
from controller.specification.team import Calls  # noqa: TC001 - read by pydantic
from evaluators.model.codecs import parse
from evaluators.model.platforms import Platform  # noqa: TC001 - read by pydantic
from foundation.strict import Name, Strict
from foundation.yaml_source import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foundation.yaml_source import Source

MAX_ROWS = 500
_MAX_NAME_CHARS = 60
_LISTED = "rows"

RowName = Annotated[
    str, Field(min_length=1, max_length=_MAX_NAME_CHARS, pattern=r"^[^\x00-\x1f\x7f]+$")
]
"""Name of a row: any text on one line."""


def _as_list(value: object) -> object:
    """Read one text as a list of it."""
    return [value] if isinstance(value, str) else value


def _as_tuple(value: object) -> object:
    """Read a list as a tuple, which strict models require."""
    return tuple(value) if isinstance(value, list) else value


def _listed(value: object) -> object:
    return _as_tuple(_as_list(value))


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class Limits(Strict):
    """Limits of every trial, in place of the tasks' own; see `LimitsSpec`."""

    steps: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tokens: int | None = Field(default=None, ge=1)
    usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    stalled_steps: int | None = Field(default=None, ge=1)
    turns: int | None = Field(default=None, ge=1)

    def to_spec(self) -> LimitsSpec:
        """Return the limits as a part of a run's specification."""
        return LimitsSpec(**self.model_dump())


class Budget(Strict):
    """Budget of all attempts of one row; see `BudgetSpec`."""

    tokens: int | None = Field(default=None, ge=1)
    usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    def to_spec(self) -> BudgetSpec:
        """Return the budget as a part of a run's specification."""
        return BudgetSpec(**self.model_dump())


class RowSettings(Strict):
    """What distinguishes rows: the agent and what it sees. The names are those of `mesocosm run`.

    Attributes:
        agent: name of an agent, or a class of the user.
        agent_command: command of an agent.
        script: file of actions, relative to the experiment file.
        solution: reference solution of the agent ``oracle``.
        replay: run whose actions the agent ``replay`` plays.
        model: name of the model.
        adapter: adapter of its API.
        family: format in which it acts.
        base_url: address of its API.
        key: environment variable with its key; by default that of all models.
        extra: further fields of each request.
        image_scale: factor by which screenshots are scaled down.
        history: past turns in each request.
        pictures: how many of these turns keep their screenshots.
        team: structure of a team, or its file, relative to the experiment file.
        calls: how models call actions.
        profile: observation, history and limits of a published benchmark.
        observe: observations, as for ``--observe``.
        trees: whether accessibility trees are given as data.
        feedback: progress feedback.
        interface: what agents act with.
        code: whether agents may run code.
        action_set: which actions agents have.
        limits: limits of every trial; each replaces that of the settings of all rows.
    """

    agent: str | None = None
    agent_command: str | None = None
    script: str | None = None
    solution: str | None = None
    replay: str | None = None
    model: str | None = None
    adapter: str | None = None
    family: str | None = None
    base_url: str | None = None
    key: str | None = None
    extra: dict[str, JsonValue] | None = None
    image_scale: float | None = Field(default=None, ge=0.1, le=1)
    history: int | None = Field(default=None, ge=1, le=1000)
    pictures: int | None = Field(default=None, ge=1, le=1000)
    team: str | None = None
    calls: Calls | None = None
    profile: Literal["", "crab"] | None = None
    observe: Texts | None = None
    trees: bool | None = None
    feedback: Literal["none", "hints", "nodes"] | None = None
    interface: Interface | None = None
    code: bool | None = None
    action_set: ActionSetName | None = None
    limits: Limits | None = None

    def over(self, other: RowSettings) -> RowSettings:
        """Return these settings, with another's where they say nothing; limits are merged."""
        values = {name: getattr(other, name) for name in RowSettings.model_fields}
        values |= {
            name: value
            for name in RowSettings.model_fields
            if (value := getattr(self, name)) is not None
        }
        if self.limits is not None and other.limits is not None:
            merged = other.limits.model_dump() | self.limits.model_dump(exclude_none=True)
            values["limits"] = Limits(**merged)
        return RowSettings(**values)


class ListedRow(RowSettings):
    """A row that the file lists.

    Attributes:
        name: its name.
    """

    name: RowName


Axis = dict[RowName, RowSettings]


class Experiment(Strict):
    """An experiment file.

    Attributes:
        name: identifies the experiment and its results.
        suite: name of the suite, or its folder, relative to the file.
        tasks: ids or patterns of tasks; all by default.
        tags: a task must have at least one of these.
        platforms: a task must have one of these.
        subset: name of a subset of the suite.
        repeats: trials of each task in each row.
        seed: seed of all random choices.
        order: order in which a row's trials start.
        retries: additional attempts at a trial whose machines or model fail.
        budget: budget of each row.
        keep_end_state: trials whose end states are kept.
        parallel: trials at a time.
        isolate: whether each trial runs in a process of its own.
        fleet: machines of the appliance, or in memory.
        human: whether recorded trials of people on the same tasks are shown as a row.
        all: settings of all rows.
        rows: rows that are listed.
        cross: axes that are crossed: every combination of their values is a row.
    """

    name: Name
    suite: str = Field(min_length=1)
    tasks: Texts = ()
    tags: Texts = ()
    platforms: Annotated[tuple[Platform, ...], BeforeValidator(_as_tuple)] = ()
    subset: str = ""
    repeats: int = Field(default=1, ge=1, le=1000)
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    order: Order = "suite"
    retries: int = Field(default=1, ge=0, le=20)
    budget: Budget = Budget()
    keep_end_state: KeepPolicy = "none"
    parallel: int = Field(default=1, ge=1, le=1024)
    isolate: bool = False
    fleet: Literal["real", "fake"] = "real"
    human: bool = True
    all: RowSettings = RowSettings()
    rows: Annotated[tuple[ListedRow, ...], BeforeValidator(_as_tuple)] = ()
    cross: dict[Name, Axis] = Field(default={})

    @model_validator(mode="after")
    def _require_rows(self) -> Self:
        for axis, values in self.cross.items():
            if not values:
                raise PydanticCustomError("cross", f"The axis {axis!r} of `cross` has no values.")
        count = sum(1 for _ in itertools.islice(self.named_rows(), MAX_ROWS + 1))
        if not count:
            raise PydanticCustomError(
                _LISTED, "The experiment has no rows. Write `rows` or `cross`."
            )
        if count > MAX_ROWS:
            raise PydanticCustomError("cross", f"The experiment has more than {MAX_ROWS} rows.")
        names: set[str] = set()
        for name, _ in self.named_rows():
            if name in names:
                raise PydanticCustomError(_LISTED, f"Several rows are named {name!r}.")
            names.add(name)
        return self

    def named_rows(self) -> Iterator[tuple[str, RowSettings]]:
        """Yield names and settings of all rows: listed ones, then combinations of the axes."""
        for row in self.rows:
            yield row.name, row.over(self.all)
        if self.cross:
            for combination in itertools.product(*(axis.items() for axis in self.cross.values())):
                settings = self.all
                for _, value in combination:
                    settings = value.over(settings)
                yield ", ".join(name for name, _ in combination), settings


def read_experiment(path: Path) -> tuple[Experiment, Source]:
    """Read an experiment file.

    Returns:
        The experiment, and the file with its lines, for further errors.

    Raises:
        SpecError: it cannot be read, or is invalid; errors have file, line and near names.
    """
    source = read_yaml(path)
    return parse(source, Experiment), source


def place_of_row(experiment: Experiment, name: str) -> tuple[str | int, ...]:
    """Return the place of a row in its file, for errors; that of the axes for a combination."""
    names = [row.name for row in experiment.rows]
    return (_LISTED, names.index(name)) if name in names else ("cross",)
