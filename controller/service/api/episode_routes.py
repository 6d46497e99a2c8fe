"""Routes of episodes; requests that wait for machines do not block threads."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from controller.service.api.access import Context, Operator, Reader
from controller.service.api.episode_replies import (
    Cancelled,
    CommandReply,
    EpisodeReply,
    Episodes,
    Pictures,
    RefusalReply,
    StandingReply,
    StepReply,
    command_of,
    episode_of,
    fault_of_command,
    row_of,
    standing_of,
    step_of,
)
from controller.service.api.errors import WrongValueError
from controller.service.api.models import ErrorReply
from controller.service.episodes.errors import CapacityError, DeadlineError, EpisodeOverError
from controller.service.episodes.orders import (
    CommandOrder,
    Deadline,
    EpisodeRequest,
    Id,
    Order,
    StepOrder,
    Ttl,
)
from controller.service.episodes.session import End
from foundation.errors import GuestCallError, MesocosmError, StateError, UnknownNameError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from controller.service.api.context import ApiContext
    from controller.service.episodes.session import EpisodeSession

T = TypeVar("T")

_REFUSALS: dict[int | str, dict[str, Any]] = {
    409: {
        "model": RefusalReply,
        "description": "The state of the episode does not allow this, or its task is faulty.",
    },
    429: {"model": RefusalReply, "description": "The limit of open episodes is reached."},
    503: {"model": RefusalReply, "description": "Machines or their host failed."},
    504: {"model": ErrorReply, "description": "The operation continues past the deadline."},
}
router = APIRouter(prefix="/api/v1/episodes", tags=["episodes"], responses=_REFUSALS)

_RETRY_S = 5
Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
Inline = Annotated[Pictures, Query(description="How pictures are sent.")]


class OpenOrder(EpisodeRequest):
    """A request to open an episode."""

    deadline_s: Deadline = 600.0
    pictures: Pictures = "address"

    @property
    def request(self) -> EpisodeRequest:
        """The episode's own fields, without those of the reply."""
        return EpisodeRequest.model_validate(self.model_dump(exclude={"deadline_s", "pictures"}))


class StepRequest(StepOrder):
    """A request to execute a step."""

    request_id: Id
    deadline_s: Deadline = 600.0
    pictures: Pictures = "address"

    @property
    def order(self) -> StepOrder:
        """The step's own fields, without those of the reply."""
        return StepOrder(actions=self.actions, usage=self.usage)


class Waiting(Order):
    """A request that waits up to a deadline."""

    deadline_s: Deadline = 600.0


class Heartbeat(Order):
    """A heartbeat."""

    ttl_s: Annotated[Ttl | None, Field(description="Unchanged by default.")] = None


class KeyOrder(Order):
    """A request that names an episode by the key of its opening."""

    key: Id


@router.post("", status_code=201, dependencies=[Operator])
async def open_episode(order: OpenOrder, context: Context) -> EpisodeReply:
    """Open an episode and return its first observation; the same key returns the same episode."""
    session = await run_in_threadpool(_open, context, order.request)
    try:
        opening = await _wait(session.opening, order.deadline_s, "The episode waits for machines.")
    except DeadlineError as exc:
        if order.key is None:  # without a key, it could not be requested again
            session.close(End.CANCELLED)
        waiting = sum(not entry.opening.done() for entry in context.episodes.entries())
        raise CapacityError(
            exc.brief, queue_length=max(1, waiting), retry_after_s=_RETRY_S
        ) from exc
    except EpisodeOverError:
        if session.result is None:
            raise
        return episode_of(session, None, None, order.pictures)
    return episode_of(session, opening, session.latest or opening.seen, order.pictures)


@router.post("/cancel", dependencies=[Operator])
def cancel_opening(order: KeyOrder, context: Context) -> Cancelled:
    """Cancel the episode opened with a key, and every later request with it; does not wait."""
    session = context.episodes.give_up(order.key)
    return Cancelled(id=session and session.episode_id)


@router.get("", dependencies=[Reader])
def list_episodes(context: Context) -> Episodes:
    """List the known episodes, latest first."""
    return Episodes(episodes=[row_of(entry) for entry in context.episodes.entries()])


@router.get("/{episode}", dependencies=[Reader])
def get_episode(episode: str, context: Context, pictures: Inline = "address") -> EpisodeReply:
    """Return an episode with its latest observation; does not extend its lifetime."""
    return _state(context.episodes.get(episode), pictures)


@router.post("/{episode}/step", dependencies=[Operator])
async def step_episode(episode: str, order: StepRequest, context: Context) -> StepReply:
    """Execute actions; a repeated request id returns the first reply instead."""
    session = context.episodes.get(episode)
    step = session.step(order.request_id, order.order)
    outcome = await _wait(step, order.deadline_s, "The step continues.")
    return step_of(episode, order.request_id, outcome, order.pictures)


@router.post("/{episode}/evaluate", dependencies=[Operator])
async def evaluate_episode(episode: str, order: Waiting, context: Context) -> StandingReply:
    """Evaluate an episode as if it ended now; changes nothing and may be repeated."""
    session = context.episodes.get(episode)
    return standing_of(
        await _wait(session.evaluate(), order.deadline_s, "The episode is being evaluated.")
    )


@router.post("/{episode}/run", dependencies=[Operator])
def run_command(episode: str, order: CommandOrder, context: Context) -> CommandReply:
    """Run a command on a machine of an episode that was opened with `commands`."""
    session = context.episodes.get(episode)
    try:
        return command_of(session.run(order))
    except GuestCallError as exc:
        return fault_of_command(exc)


@router.post("/{episode}/heartbeat", dependencies=[Operator])
def keep_episode(episode: str, beat: Heartbeat, context: Context) -> EpisodeReply:
    """Restart an episode's idle timeout."""
    session = context.episodes.get(episode)
    session.touch(beat.ttl_s)
    return _state(session, "address")


@router.post("/{episode}/cancel", dependencies=[Operator])
async def cancel_episode(episode: str, order: Waiting, context: Context) -> EpisodeReply:
    """End an episode immediately, even during a step, and release its machines."""
    return await _end(context.episodes.get(episode), End.CANCELLED, order.deadline_s)


@router.post("/{episode}/close", dependencies=[Operator])
async def close_episode(episode: str, order: Waiting, context: Context) -> EpisodeReply:
    """End an episode after its running step, release its machines and return its outcome."""
    return await _end(context.episodes.get(episode), End.CLOSED, order.deadline_s)


@router.get(
    "/{episode}/pictures/{sha256}",
    dependencies=[Reader],
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}},
)
def get_episode_picture(episode: str, sha256: Digest, context: Context) -> Response:
    """Return a picture of one of the last observations."""
    picture = context.episodes.get(episode).picture(sha256)
    if picture is None:
        raise UnknownNameError(
            f"{episode} does not keep that picture.",
            details="Only the pictures of its last steps are kept.",
        )
    return Response(picture.png, media_type="image/png")


def _open(context: ApiContext, request: EpisodeRequest) -> EpisodeSession:
    try:
        context.episodes.factory.check(request)
    except StateError:
        raise
    except MesocosmError as exc:
        raise WrongValueError(exc.brief, exc.details, exc.resolution) from exc
    return context.episodes.open(request)


async def _end(session: EpisodeSession, end: End, deadline_s: float) -> EpisodeReply:
    await _wait(session.close(end), deadline_s, "The episode is being closed.")
    return _state(session, "address")


def _state(session: EpisodeSession, pictures: Pictures) -> EpisodeReply:
    return episode_of(session, session.opened, session.latest, pictures)


async def _wait(future: Future[T], deadline_s: float, doing: str) -> T:
    """Wait for an operation of a session's thread.

    Raises:
        DeadlineError: the operation did not finish in time; it continues.
        MesocosmError: the error of the operation.
    """
    waited = asyncio.wrap_future(future)
    # An exception after the deadline is reported to the next request.
    waited.add_done_callback(lambda done: done.cancelled() or done.exception())
    done, _ = await asyncio.wait({waited}, timeout=deadline_s)
    if not done:
        raise DeadlineError(
            f"The operation did not finish within {deadline_s:g} s.",
            details=doing,
            resolution="Repeat the request with the same id.",
        )
    return waited.result()
