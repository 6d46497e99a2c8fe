"""Routes with which processes on other hosts record trials; between parts of Mesocosm only.

A request needs the key of the run (`controller.store.recording_key`), or a token that can operate.
Not in the OpenAPI document: both ends are of the same version.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path, Query
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field

from controller.episode.result import TRIAL_RESULT, Ending, Reason
from controller.service.api.access import AccessError, Context
from controller.service.api.errors import WrongValueError
from controller.specification.job import TrialJob
from controller.store.received import Part, ReceivedAttempt
from controller.store.recording_key import is_recording_key
from controller.store.runs import RunFolder

_BEARER = HTTPBearer(auto_error=False)
_MAX_LINES = 10_000
_MAX_BYTES = 1 << 31

Repeat = Annotated[int, Path(ge=0, le=1_000_000)]
Number = Annotated[int, Path(ge=1, le=1_000_000)]
Writer = Annotated[str, Query(min_length=8, max_length=100)]
Offset = Annotated[int, Query(ge=0, le=_MAX_BYTES)]
Size = Annotated[int, Query(ge=0, le=_MAX_BYTES)]
Data = Annotated[bytes, Body(media_type="application/octet-stream")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Lines(_Body):
    """Lines of a log; `first` is the number of the first one in the log, from 0."""

    first: int = Field(ge=0)
    lines: list[str] = Field(max_length=_MAX_LINES)


class Conclusion(_Body):
    """How an attempt ended whose process died."""

    job: TrialJob
    reason: Reason
    detail: str = ""


def _run(
    run: str,
    context: Context,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
) -> RunFolder:
    """Return the run of a request that may record its trials.

    Raises:
        AccessError: it may not.
        UnknownNameError: there is no such run.
    """
    token = "" if bearer is None else bearer.credentials
    if not token:
        raise AccessError(401, "A token is required.")
    is_key = is_recording_key(context.settings.runs_dir / run, token)
    role = None if is_key else context.tokens.role_of(token)
    if not is_key and role is None:
        raise AccessError(401, "The key of the run is invalid, or the run is not in progress.")
    if role is not None and not role.may_operate:
        raise AccessError(403, "This token is read-only.")
    return context.store.open(run)


Run = Annotated[RunFolder, Depends(_run)]
router = APIRouter(prefix="/api/v1/record/{run}", include_in_schema=False)
_ATTEMPT = "/trials/{task}/{repeat}/attempts/{number}"


def _attempt(
    run: Run, task: str, repeat: Repeat, number: Number, writer: Writer
) -> ReceivedAttempt:
    return ReceivedAttempt(run, task, repeat, number, writer)


Received = Annotated[ReceivedAttempt, Depends(_attempt)]


@router.get("")
def get_specification(run: Run) -> dict[str, Any]:
    """Return the specification of the run."""
    return run.spec.model_dump(mode="json")


@router.get("/trials/{task}/{repeat}/attempts")
def list_attempts(run: Run, task: str, repeat: Repeat) -> dict[str, Any]:
    """Return number and result of each attempt at a trial, oldest first."""
    rows = [
        {
            "number": attempt.number,
            "result": result and TRIAL_RESULT.dump_python(result, mode="json"),
        }
        for attempt in run.attempts(task, repeat)
        for result in (attempt.result,)
    ]
    return {"attempts": rows}


@router.post(_ATTEMPT)
def begin(attempt: Received) -> dict[str, Any]:
    """Begin an attempt."""
    attempt.begin()
    return {}


@router.post(f"{_ATTEMPT}/lines")
def append(attempt: Received, body: Lines) -> dict[str, Any]:
    """Append lines to the log of an attempt."""
    attempt.append(body.first, body.lines)
    return {}


@router.post(f"{_ATTEMPT}/beat")
def beat(attempt: Received) -> dict[str, Any]:
    """Return why the process of an attempt shall end; empty if it shall not."""
    return {"cancel": attempt.beat()}


@router.post("/conclusions")
def conclude(run: Run, body: Conclusion, context: Context) -> dict[str, Any]:
    """Conclude an attempt whose process died; return its result."""
    if (body.job.task, body.job.repeat) not in run.spec.planned:
        raise WrongValueError(f"{run.spec.run} has no trial {body.job.task}/{body.job.repeat}.")
    result = run.conclude_attempt(body.job, Ending(body.reason, body.detail), context.clock)
    return {"result": TRIAL_RESULT.dump_python(result, mode="json")}


@router.put(f"{_ATTEMPT}/blobs/{{name}}")
def put_blob(
    attempt: Received, name: str, data: Data, offset: Offset, size: Size
) -> dict[str, Any]:
    """Store a part of a picture, tree or view."""
    return {"is_complete": attempt.receive_blob(name, Part(data, offset, size))}


@router.put(f"{_ATTEMPT}/files/{{name}}")
def put_file(
    attempt: Received, name: str, data: Data, offset: Offset, size: Size
) -> dict[str, Any]:
    """Store a part of a recording."""
    return {"is_complete": attempt.receive_file(name, Part(data, offset, size))}
