"""Replies of the episode routes; keys are only added, never removed."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Base64Bytes, BaseModel, ConfigDict, JsonValue

from controller.episode.result import TRIAL_RESULT, Reason
from controller.service.api.models import ErrorBody
from controller.service.episodes.outcome import Fault, fault_of, is_truncated, reward_of
from controller.service.episodes.session import End, Phase
from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from controller.episode.result import TrialResult
    from controller.service.episodes.outcome import (
        ObservationSummary,
        Picture,
        Standing,
        StepOutcome,
    )
    from controller.service.episodes.session import EpisodeSession, Opening
    from foundation.errors import GuestCallError
    from foundation.process import CommandResult
    from provisioning.protocols import Element

Pictures = Literal["address", "base64"]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ScreenReply(_Reply):
    """A screenshot; its PNG is in `png` (base64) or at `address`, as requested."""

    width: int
    height: int
    sha256: str
    png: str | None
    address: str


class ElementReply(_Reply):
    """An element of an accessibility tree; bounds are left, top, right, bottom in pixels."""

    role: str
    name: str
    bounds: tuple[int, int, int, int]
    states: list[str]
    resource_id: str
    depth: int


class ResultReply(_Reply):
    """What an action of the last turn returned: text, and a picture as base64 PNG."""

    call: str
    index: int
    text: str
    png: str = ""


class MarkReply(_Reply):
    """A numbered element; its box is left, top, right, bottom in pixels of the screen."""

    id: int
    box: tuple[int, int, int, int]
    role: str
    name: str
    source: str
    states: list[str]


class ObservationReply(_Reply):
    """An observation that an agent receives before it acts."""

    step: int
    screens: dict[str, ScreenReply]
    feedback: str
    trees: dict[str, list[ElementReply]]
    progress: list[str]
    results: list[ResultReply]
    marks: dict[str, list[MarkReply]] = {}
    texts: dict[str, list[str]] = {}
    tree_faults: dict[str, str] = {}
    found: dict[str, dict[str, JsonValue]] = {}


class OutcomeReply(_Reply):
    """How an episode ended; `trial` is the trial's result as `mesocosm results --json` prints it."""

    verdict: Verdict
    reason: Reason
    detail: str
    fault: Fault
    trial: dict[str, Any]


class EpisodeReply(_Reply):
    """The current state of an episode; `actions` is empty once it is over."""

    id: str
    phase: Phase
    end: End | None
    suite: str
    task: str
    seed: int
    ttl_s: float
    expires_in_s: float
    instruction: str
    actions: list[dict[str, Any]]
    observation: ObservationReply | None
    outcome: OutcomeReply | None


class EpisodeRow(_Reply):
    """Summary of an episode."""

    id: str
    phase: Phase
    end: End | None
    suite: str
    task: str
    seed: int
    expires_in_s: float


class Episodes(_Reply):
    """Episodes, latest first."""

    episodes: list[EpisodeRow]


class Cancelled(_Reply):
    """What was cancelled; `id` is null if there was no episode yet."""

    id: str | None


class StepReply(_Reply):
    """Outcome of a step; `reward` is null if the episode is inconclusive."""

    request_id: str
    observation: ObservationReply
    newly_met: list[str]
    reward: float | None
    terminated: bool
    truncated: bool
    outcome: OutcomeReply | None


class UnmetReply(_Reply):
    """Why a node has no credit."""

    node: str
    state: str
    why: str


class StandingReply(_Reply):
    """Evaluation of an episode: final, or as if it ended now."""

    verdict: Verdict
    reward: float | None
    nodes_met: int
    nodes: int
    unmet: list[UnmetReply]
    is_final: bool


class CommandReply(_Reply):
    """Result of a command; both outputs are base64 and end after 1 MiB.

    `fault` says why it has no result: `not_found`, `failed` or `timeout`; `stderr` has details.
    """

    exit_code: int | None = None
    stdout: Base64Bytes = b""
    stderr: Base64Bytes = b""
    fault: str = ""


class RefusalReply(_Reply):
    """Why an episode is not available; `reward` is null, because the agent was not evaluated."""

    error: ErrorBody
    reward: None = None
    queue_length: int | None = None
    retry_after_s: int | None = None


def row_of(session: EpisodeSession) -> EpisodeRow:
    """Convert an episode to its summary."""
    request = session.request
    return EpisodeRow(
        id=session.episode_id,
        phase=session.phase,
        end=session.end,
        suite=request.suite,
        task=request.task,
        seed=request.seed,
        expires_in_s=session.expires_in_s,
    )


def episode_of(
    session: EpisodeSession,
    opening: Opening | None,
    seen: ObservationSummary | None,
    pictures: Pictures,
) -> EpisodeReply:
    """Convert an episode to its reply.

    Args:
        session: the episode.
        opening: data of the opening, while kept.
        seen: the latest observation; None once it is dropped.
        pictures: how pictures are sent.
    """
    row, episode_id = row_of(session), session.episode_id
    return EpisodeReply(
        **row.model_dump(),
        ttl_s=session.ttl_s,
        instruction="" if opening is None else opening.instruction,
        actions=[] if opening is None else opening.actions,
        observation=None if seen is None else observation_of(episode_id, seen, pictures),
        outcome=None if session.result is None else outcome_of(session.result),
    )


def observation_of(
    episode_id: str, seen: ObservationSummary, pictures: Pictures
) -> ObservationReply:
    """Convert an observation to its reply."""
    return ObservationReply(
        step=seen.step,
        screens={
            role: _screen(episode_id, picture, pictures) for role, picture in seen.pictures.items()
        },
        feedback=seen.feedback,
        trees={
            role: [
                ElementReply(
                    role=element.role,
                    name=element.name,
                    bounds=_bounds(element),
                    states=sorted(element.states),
                    resource_id=element.resource_id,
                    depth=element.depth,
                )
                for element in tree
            ]
            for role, tree in seen.trees.items()
        },
        progress=list(seen.progress),
        results=[ResultReply.model_validate(result.to_json()) for result in seen.results],
        marks={
            role: [MarkReply.model_validate(mark.to_json()) for mark in row]
            for role, row in seen.marks.items()
        },
        texts={role: list(row) for role, row in seen.texts.items() if row},
        tree_faults=dict(seen.tree_faults),
        found={role: dict(row) for role, row in seen.found.items() if row},
    )


def step_of(
    episode_id: str, request_id: str, outcome: StepOutcome, pictures: Pictures
) -> StepReply:
    """Convert the outcome of a step to its reply."""
    result = outcome.result
    return StepReply(
        request_id=request_id,
        observation=observation_of(episode_id, outcome.seen, pictures),
        newly_met=list(outcome.newly_met),
        reward=reward_of(result),
        terminated=result is not None and not is_truncated(result.reason),
        truncated=result is not None and is_truncated(result.reason),
        outcome=None if result is None else outcome_of(result),
    )


def outcome_of(result: TrialResult) -> OutcomeReply:
    """Convert the result of an episode to its reply."""
    return OutcomeReply(
        verdict=result.verdict,
        reason=result.reason,
        detail=result.detail,
        fault=fault_of(result.reason),
        trial=TRIAL_RESULT.dump_python(result, mode="json"),
    )


def command_of(result: CommandResult) -> CommandReply:
    """Convert the result of a command to its reply."""
    return CommandReply.model_construct(
        exit_code=result.exit_code, stdout=result.stdout, stderr=result.stderr
    )


def fault_of_command(error: GuestCallError) -> CommandReply:
    """Convert the error of a command that has no result to its reply."""
    text = str(error).encode()
    return CommandReply.model_construct(fault=error.kind or error.code, stderr=text)


def standing_of(standing: Standing) -> StandingReply:
    """Convert a standing to its reply."""
    rewards = {Verdict.PASS: 1.0, Verdict.FAIL: 0.0}
    return StandingReply(
        verdict=standing.verdict,
        reward=rewards.get(standing.verdict),
        nodes_met=standing.nodes_met,
        nodes=standing.nodes,
        unmet=[UnmetReply(node=row.node, state=row.state, why=row.why) for row in standing.unmet],
        is_final=standing.is_final,
    )


def _screen(episode_id: str, picture: Picture, pictures: Pictures) -> ScreenReply:
    is_inline = pictures == "base64"
    return ScreenReply(
        width=picture.width,
        height=picture.height,
        sha256=picture.sha256,
        png=base64.b64encode(picture.png).decode() if is_inline else None,
        address=f"/api/v1/episodes/{episode_id}/pictures/{picture.sha256}",
    )


def _bounds(element: Element) -> tuple[int, int, int, int]:
    bounds = element.bounds
    return bounds.left, bounds.top, bounds.right, bounds.bottom
