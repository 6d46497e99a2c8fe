"""Form fields of a run request."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field

from controller.service.api.errors import WrongValueError
from controller.specification.presets import PRESETS
from controller.specification.request import parse_request
from foundation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from controller.specification.request import RunRequest

_SAME = (
    *(
        "suite",
        "agent",
        "model",
        "solution",
        "replay",
        "image_scale",
        "history",
        "pictures",
        "repeats",
        "retries",
        "parallel",
    ),
    *("seed", "order", "fleet", "feedback", "recording_hz", "keep_end_state"),
    *("adapter", "family", "team", "calls"),
)
_LIMITS = ("steps", "turns", "seconds", "tokens", "usd", "stalled_steps")
_BUDGET = ("tokens", "usd", "seconds")

Text = Annotated[str, Field(max_length=200)]
Number = Annotated[str, Field(max_length=20)]


class RunForm(BaseModel):
    """The form fields of a run; empty fields have the defaults of `mesocosm run`.

    Attributes:
        tasks: ids or patterns of ids, separated by spaces.
        tags: a task must have at least one of these; separated by spaces.
        platforms: the platforms of which tasks must have one; separated by spaces.
        subset: name of a subset of the suite.
        limit_steps: limit of every trial, overriding its task's; so are the other ``limit_`` fields.
        budget_tokens: budget of all attempts together; so are the other ``budget_`` fields.
        observation: name of an observation, such as ``marks``.
        trees: if checked, observations include accessibility trees.
        isolate: if checked, each trial runs in a process of its own.
        no_preflight: if checked, nothing is checked before machines are leased.
    """

    suite: Text
    agent: Text
    model: Text = ""
    solution: Text = ""
    image_scale: Number = ""
    history: Number = ""
    pictures: Number = ""
    team: Literal["", "by-function", "by-environment", "planner-grounder"] = ""
    calls: Literal["", "functions", "json"] = ""
    tasks: str = Field(default="", max_length=20_000)
    tags: str = Field(default="", max_length=20_000)
    platforms: Text = ""
    subset: Text = ""
    repeats: Number = ""
    retries: Number = ""
    parallel: Number = ""
    seed: Number = ""
    order: Literal["", "suite", "shuffled"] = ""
    fleet: Literal["real", "fake"] = "real"
    feedback: Literal["", "none", "hints", "nodes"] = ""
    recording_hz: Number = ""
    keep_end_state: Literal["", "none", "failed", "all"] = ""
    adapter: Text = ""
    family: Text = ""
    limit_steps: Number = ""
    limit_turns: Number = ""
    limit_seconds: Number = ""
    limit_tokens: Number = ""
    limit_usd: Number = ""
    limit_stalled_steps: Number = ""
    budget_tokens: Number = ""
    budget_usd: Number = ""
    budget_seconds: Number = ""
    replay: Text = ""
    interface: Literal["gui", "tools", "both"] = "both"
    code: bool = False
    confirm: bool = False
    action_set: Literal["own", "crab"] = "own"
    observation: Literal["", "screenshot", "marks", "tree", "screenshot+tree", "crab"] = ""
    trees: bool = False
    isolate: bool = False
    no_preflight: bool = False

    def request(self) -> RunRequest:
        """Return the run request.

        Raises:
            WrongValueError: a value is invalid; lists every invalid value.
        """
        values: dict[str, object] = {
            **self._filled(_SAME),
            "tasks": self.tasks.split(),
            "tags": self.tags.split(),
            "platforms": self.platforms.split(),
            "subset": self.subset,
            "limits": self._filled(_LIMITS, "limit_"),
            "budget": self._filled(_BUDGET, "budget_"),
            "interface": self.interface,
            "code": self.code,
            "confirm": self.confirm,
            "action_set": self.action_set,
            "observation": PRESETS[self.observation or "screenshot"],
            "trees": self.trees,
            "isolate": self.isolate,
            "preflight": not self.no_preflight,
        }
        with refusing_wrong_values():
            return parse_request(values)

    def _filled(self, names: Iterable[str], prefix: str = "") -> dict[str, object]:
        """Return the fields that are not empty, by name without prefix."""
        return {name: text for name in names if (text := getattr(self, prefix + name))}


@contextlib.contextmanager
def refusing_wrong_values() -> Iterator[None]:
    """Map a `UsageError` of the block to a `WrongValueError`.

    Raises:
        WrongValueError: the block raised a `UsageError`.
    """
    try:
        yield
    except UsageError as exc:
        raise WrongValueError(exc.brief, exc.details, exc.resolution) from exc
