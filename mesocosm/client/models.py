"""Replies of the episode API; a test compares them with the service's OpenAPI document.

Fields that a newer service adds are ignored.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, JsonValue

Bounds = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom are exclusive."""


class Verdict(StrEnum):
    """Verdict of an episode."""

    PASS = "PASS"  # noqa: S105 - a verdict
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


class Fault(StrEnum):
    """Why an episode has no verdict."""

    NONE = "none"
    INFRASTRUCTURE = "infrastructure"
    TASK = "task"
    CANCELLED = "cancelled"


class Reply(BaseModel):
    """Base of replies."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Screen(Reply):
    """A screenshot; `png` is the picture's file."""

    width: int
    height: int
    sha256: str
    png: Base64Bytes | None = Field(repr=False)
    address: str

    def save(self, path: str | Path) -> None:
        """Write the picture to a file.

        Raises:
            ValueError: the reply has no picture.
        """
        if self.png is None:
            raise ValueError("This screen was sent without its picture.")
        Path(path).write_bytes(self.png)


class Element(Reply):
    """An element of an accessibility tree."""

    role: str
    name: str
    bounds: Bounds
    states: list[str]
    resource_id: str
    depth: int


class Result(Reply):
    """What an action of the last step returned: text, and a picture as base64 PNG."""

    call: str
    index: int
    text: str
    png: str = Field(default="", repr=False)


class Mark(Reply):
    """A numbered element."""

    id: int
    box: Bounds
    role: str
    name: str
    source: str
    states: list[str]


class Observation(Reply):
    """What an agent sees before it acts; the keys of mappings are the roles of machines."""

    step: int
    screens: dict[str, Screen]
    feedback: str
    trees: dict[str, list[Element]]
    progress: list[str]
    results: list[Result]
    marks: dict[str, list[Mark]] = {}
    texts: dict[str, list[str]] = {}
    tree_faults: dict[str, str] = {}
    found: dict[str, dict[str, JsonValue]] = {}

    @property
    def screen(self) -> Screen:
        """The only screen.

        Raises:
            ValueError: there are several.
        """
        if len(self.screens) != 1:
            raise ValueError(f"Choose one of the screens {', '.join(self.screens)}.")
        return next(iter(self.screens.values()))


class Outcome(Reply):
    """How an episode ended; `trial` is the result as `mesocosm results --json` prints it."""

    verdict: Verdict
    reason: str
    detail: str
    fault: Fault
    trial: dict[str, Any]

    @property
    def reward(self) -> float | None:
        """1 for PASS, 0 for FAIL, None if undecided."""
        return {Verdict.PASS: 1.0, Verdict.FAIL: 0.0}.get(self.verdict)


class ActionInfo(Reply):
    """An action that the episode offers; `parameters` is a JSON schema."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    do: str
    on: str | None = None
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class Episode(Reply):
    """The state of an episode; `actions` is empty once it is over."""

    id: str
    phase: Literal["opening", "open", "over"]
    end: Literal["done", "closed", "cancelled", "expired", "failed"] | None
    suite: str
    task: str
    seed: int
    ttl_s: float
    expires_in_s: float
    instruction: str
    actions: list[ActionInfo]
    observation: Observation | None
    outcome: Outcome | None


class EpisodeRow(Reply):
    """Summary of an episode."""

    id: str
    phase: Literal["opening", "open", "over"]
    end: Literal["done", "closed", "cancelled", "expired", "failed"] | None
    suite: str
    task: str
    seed: int
    expires_in_s: float


class Episodes(Reply):
    """Episodes, latest first."""

    episodes: list[EpisodeRow]


class Step(Reply):
    """Outcome of a step; `reward` is None if the episode is inconclusive."""

    request_id: str
    observation: Observation
    newly_met: list[str]
    reward: float | None
    terminated: bool
    truncated: bool
    outcome: Outcome | None

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self.terminated or self.truncated


class Unmet(Reply):
    """Why a node has no credit."""

    node: str
    state: str
    why: str


class Standing(Reply):
    """Evaluation of an episode: final, or as if it ended now."""

    verdict: Verdict
    reward: float | None
    nodes_met: int
    nodes: int
    unmet: list[Unmet]
    is_final: bool


class Command(Reply):
    """Result of a command on a machine; both outputs end after 1 MiB.

    `fault` says why it has no result: ``not_found``, ``failed`` or ``timeout``.
    """

    exit_code: int | None = None
    stdout: Base64Bytes = b""
    stderr: Base64Bytes = b""
    fault: str = ""


class Task(Reply):
    """A task of a suite; `roles` maps roles to kinds of machines."""

    id: str
    instruction: str
    roles: dict[str, str]


class Suite(Reply):
    """A suite."""

    name: str
    version: str
    digest: str
    tasks: list[Task]


class Suites(Reply):
    """Names of the available suites."""

    suites: list[str]


class Usage(BaseModel):
    """Usage of the caller's model in a step; counts toward the task's token and money limits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    usd: float = Field(default=0.0, ge=0)


def act(do: str, on: str | None = None, /, **arguments: JsonValue) -> dict[str, Any]:
    """Return an action for `Env.step`.

    Args:
        do: its name, one of `Env.actions`.
        on: role of the machine; None for actions on the session, such as ``complete``.
        arguments: its arguments.
    """
    return {"do": do, "on": on, "with": arguments}
