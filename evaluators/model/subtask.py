"""Data models of subtasks, the typed building blocks of tasks, and of their use in tasks.

A subtask is defined once, in its own file, and used by any number of tasks, any number of times. A
task binds each input to a value or to an output of another subtask; the latter also orders the two.
`evaluators.model.compiler` compiles such a task into a plain one.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from evaluators.model.node import Node, RepeatedNode  # noqa: TC001  (pydantic reads it)
from evaluators.model.oracle import (  # noqa: TC001  (pydantic reads it)
    OracleStep,
    RepeatedEntry,
    RepeatedStep,
    SetupEntry,
)
from evaluators.model.parameter import (  # noqa: TC001  (pydantic reads it)
    Parameter,
    ParameterName,
)
from evaluators.model.pressing import Press  # noqa: TC001  (pydantic reads it)
from evaluators.model.roles import Role  # noqa: TC001  (pydantic reads it)
from evaluators.model.task import (
    ORACLE,
    Cheat,
    Difficulty,
    Limits,
    MayChange,
    Solution,
)
from foundation.strict import Name, Strict, is_empty

FROM = "from"
"""Key of an input that is bound to an output: ``{from: subtask.output}``."""


class Input(Strict):
    """Input of a subtask.

    Attributes:
        type: see `evaluators.model.resources`; any other name is a type that the suite defines.
        description: description for authors of tasks.
    """

    type: Name
    description: str = ""


class Output(Input):
    """Output of a subtask.

    Attributes:
        value: its value once the subtask is done; may contain placeholders.
    """

    value: JsonValue


class Subtask(Strict):
    """A building block.

    ``${name}`` in a text of `setup`, `checks`, `oracle`, `instruction` and output values is
    replaced by the value of an input, and ``${roles.name}`` by the task's role for the subtask's
    role `name`; see `evaluators.model.placeholders`.

    Attributes:
        id: its name in the suite.
        app: the application used.
        roles: what each role needs, by the subtask's own role names.
        inputs: inputs by name.
        outputs: outputs by name.
        instruction: the instruction for the agent; a task without its own instruction joins those
            of its subtasks.
        setup: operations that run before the agent's first observation.
        checks: a graph, as in tasks, with at least one node that is not a keep node.
        oracle: the reference solution.
        oracles: further reference solutions, or all of them, by name, such as ``gui``.
    """

    id: Name
    app: str = Field(min_length=1)
    roles: dict[str, Role] = Field(default_factory=dict)
    inputs: dict[ParameterName, Input] = Field(default_factory=dict)
    outputs: dict[ParameterName, Output] = Field(default_factory=dict)
    instruction: str = ""
    setup: tuple[RepeatedEntry, ...] = Field(default=(), strict=False)
    checks: tuple[RepeatedNode, ...] = Field(min_length=1, strict=False)
    oracle: tuple[RepeatedStep, ...] = Field(default=(), strict=False)
    oracles: dict[Name, Annotated[tuple[RepeatedStep, ...], Field(min_length=1, strict=False)]] = (
        Field(default_factory=dict, exclude_if=is_empty)
    )

    @model_validator(mode="after")
    def _require_a_solution(self) -> Self:
        if not self.oracle and not self.oracles:
            raise PydanticCustomError("oracle", "A subtask needs `oracle` or `oracles`.")
        if ORACLE in self.oracles:
            raise PydanticCustomError("oracle", "A solution in `oracles` needs another name.")
        return self

    @property
    def solutions(self) -> dict[str, tuple[RepeatedStep, ...]]:
        """Reference solutions by name, with the default one first."""
        return {**({ORACLE: self.oracle} if self.oracle else {}), **self.oracles}


class SubtaskUse(Strict):
    """One use of a subtask in a task.

    Attributes:
        id: its name in the task; prefix of the ids of its nodes.
        use: id of the subtask.
        roles: the task's role for each role of the subtask; by default the role of the same name.
        inputs: for each input, a value or ``{from: id.output}``.
        after: ids of further uses that precede it.
    """

    id: Name
    use: Name
    roles: dict[str, str] = Field(default_factory=dict)
    inputs: dict[ParameterName, JsonValue] = Field(default_factory=dict)
    after: tuple[str, ...] = Field(default=(), strict=False)


class ComposedTask(Strict):
    """A task made of subtasks, as in its file; shared attributes mean the same as in `Task`.

    Attributes:
        subtasks: uses of subtasks; edges result from bindings and ``after``.
        instruction: by default those of the subtasks, in topological order.
        setup: operations that run before the setup of the subtasks.
        graph: further nodes; ``after`` may also name the use of a subtask.
        oracle: steps that follow those of the subtasks.
    """

    id: Name
    instruction: str = ""
    parameters: dict[ParameterName, Parameter] = Field(default_factory=dict)
    roles: dict[str, Role] = Field(min_length=1)
    egress: dict[str, Annotated[tuple[str, ...], Field(strict=False)]] = Field(default_factory=dict)
    sudo: bool = False
    code: bool = False
    subtasks: tuple[SubtaskUse, ...] = Field(min_length=1, strict=False)
    setup: tuple[SetupEntry, ...] = Field(default=(), strict=False)
    graph: tuple[Node, ...] = Field(default=(), strict=False)
    press_before_judging: tuple[Press, ...] = Field(default=(), strict=False)
    limits: Limits = Limits()
    oracle: tuple[OracleStep, ...] = Field(default=(), strict=False)
    must_fail: dict[Name, Solution] = Field(default_factory=dict)
    legitimate: tuple[Cheat, ...] = Field(default=(), strict=False)
    may_change: dict[str, MayChange] = Field(default_factory=dict)
    infeasible: str = Field(default="")
    tags: tuple[Name, ...] = Field(default=(), strict=False)
    difficulty: Difficulty | None = Field(default=None)
    source: str = Field(default="")
