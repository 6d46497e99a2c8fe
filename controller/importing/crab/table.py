"""The table of CRAB's subtasks, ``subtasks.yaml``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from controller.importing.report import KINDS
from foundation.strict import Name, Strict
from foundation.yaml_models import parse
from foundation.yaml_source import read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE = Path(__file__).with_name("subtasks.yaml")
Why = Annotated[tuple[str, str], Field(strict=False)]
"""A kind of `controller.importing.report.KINDS`, and a text."""


class TableNode(Strict):
    """One of CRAB's evaluators in a subtask.

    Attributes:
        crab: its name; ``not`` before it if it is negated.
        id: id of our node.
        check: our evaluator.
        args: its arguments (``with``).
        out: why it is left out, instead.
        result: whether it shows that the subtask was done.
    """

    crab: str
    id: Name | None = None
    check: str = ""
    args: dict[str, JsonValue] = Field(default_factory=dict, alias="with")
    out: Why | None = None
    result: bool = False

    @model_validator(mode="after")
    def _decide(self) -> Self:
        if (self.out is None) == (not self.check or self.id is None):
            raise PydanticCustomError("node", "A node has `id` and `check`, or `out`.")
        return self


class TableSubtask(Strict):
    """What a subtask of CRAB is here; see the file."""

    id: str
    title: str
    app: str
    category: str = ""
    on: str
    attributes: tuple[str, ...] = Field(strict=False)
    needs: tuple[str, ...] = Field(default=(), strict=False)
    makes: tuple[str, ...] = Field(default=(), strict=False)
    tells: str = ""
    download: str = ""
    output: bool = False
    setup: tuple[dict[str, JsonValue], ...] = Field(default=(), strict=False)
    nodes: tuple[TableNode, ...] = Field(default=(), strict=False)
    why: Why | None = None
    note: str = ""

    @model_validator(mode="after")
    def _decide(self) -> Self:
        if (self.why is None) == (not self.nodes):
            raise PydanticCustomError("subtask", "A subtask has `nodes`, or `why`.")
        reasons = [self.why, *(node.out for node in self.nodes)]
        for reason in reasons:
            if reason and reason[0] not in KINDS:
                raise PydanticCustomError(
                    "kind", "There is no kind {kind}.", {"kind": repr(reason[0])}
                )
        return self

    @property
    def shows_result(self) -> bool:
        """Whether a node that is carried over shows that the subtask was done."""
        return any(node.result and node.check for node in self.nodes)


class _Table(Strict):
    subtasks: tuple[TableSubtask, ...] = Field(strict=False)


@cache
def crab_subtasks() -> Mapping[str, TableSubtask]:
    """Return CRAB's subtasks by id, in the table's order."""
    source = read_yaml(_FILE)
    table = parse(source.with_data({"subtasks": source.data}), _Table)
    return {subtask.id: subtask for subtask in table.subtasks}
