"""Routes of recorded runs of any origin: reports, event logs, pictures, trees."""

from __future__ import annotations

import json
import tarfile
from functools import partial
from pathlib import Path as FilePath
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import FileResponse, Response, StreamingResponse
from starlette.background import BackgroundTask

from controller.service.api.access import Context, Reader
from controller.service.api.models import RunRowReply, Runs, TrialReply
from controller.store.index import list_runs
from controller.store.report import read_report
from controller.store.runs import Attempt, RunFolder
from foundation.errors import UnknownNameError

router = APIRouter(prefix="/api/v1/runs", tags=["runs"], dependencies=[Reader])

_TEXTS = frozenset({".json", ".jsonl"})
_IN_MEMORY_BYTES = 8 << 20
_PART_BYTES = 1 << 16

Repeat = Annotated[int, Path(ge=0, le=1_000_000)]
Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]


@router.get("")
def list_recorded_runs(
    context: Context, limit: Annotated[int, Query(ge=1, le=10_000)] = 100
) -> Runs:
    """List recorded runs, latest first."""
    rows = list_runs(context.store)[::-1][:limit]
    return Runs(runs=[RunRowReply.model_validate(row, from_attributes=True) for row in rows])


@router.get("/{run}")
def get_report(run: str, context: Context) -> dict[str, Any]:
    """Return the report of a run, as `mesocosm results RUN --json` prints it."""
    return read_report(context.store.open(run)).to_dict()


@router.get(
    "/{run}/logs",
    response_class=Response,
    responses={200: {"content": {"application/gzip": {}}}},
)
def get_logs(run: str, context: Context) -> Response:
    """Return a run's folder without pictures, trees and videos, as a compressed tar archive."""
    archive = _archive(context.store.open(run).path)
    return StreamingResponse(
        iter(partial(archive.read, _PART_BYTES), b""),
        media_type="application/gzip",
        background=BackgroundTask(archive.close),
    )


@router.get("/{run}/trials/{task}/{repeat}")
def get_trial(
    run: str,
    task: str,
    repeat: Repeat,
    context: Context,
    *,
    attempt: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
    after: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> TrialReply:
    """Return a part of a trial's event log; the last attempt's by default."""
    attempts = find_attempts(context.store.open(run), task, repeat)
    chosen = _choose(attempts, attempt)
    events = chosen.events
    return TrialReply(
        task=task,
        repeat=repeat,
        attempt=chosen.number,
        attempts=len(attempts),
        events=events[after : after + limit],
        next=after + limit if after + limit < len(events) else None,
    )


@router.get(
    "/{run}/pictures/{digest}",
    response_class=FileResponse,
    responses={200: {"content": {"image/png": {}}}},
)
def get_picture(run: str, digest: Digest, context: Context) -> FileResponse:
    """Return a picture of a run, by the SHA-256 that its event log names."""
    path = context.store.open(run).path / "blobs" / f"{digest}.png"
    if not path.is_file():
        raise UnknownNameError(f"{run} has no such picture.")
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    return FileResponse(path, media_type="image/png", headers=headers)


@router.get("/{run}/trees/{digest}")
def get_tree(run: str, digest: Digest, context: Context) -> list[dict[str, Any]]:
    """Return an accessibility tree of a run, by the SHA-256 that its event log names."""
    path = context.store.open(run).path / "blobs" / f"{digest}.json"
    if not path.is_file():
        raise UnknownNameError(f"{run} has no such tree.")
    elements: list[dict[str, Any]] = json.loads(path.read_bytes())
    return elements


def find_attempts(folder: RunFolder, task: str, repeat: int) -> list[Attempt]:
    """Return the attempts at a trial.

    Raises:
        UnknownNameError: the run has no such trial, or the trial has not started.
    """
    planned = folder.spec.planned
    if (task, repeat) not in planned:
        names = {f"{name}/{number}" for name, number in planned}
        raise UnknownNameError.of("trial", f"{task}/{repeat}", sorted(names)[:20])
    attempts = folder.attempts(task, repeat)
    if not attempts:
        raise UnknownNameError(f"The trial {task}/{repeat} has not started yet.")
    return attempts


def _archive(folder: FilePath) -> IO[bytes]:
    """Return an archive of the text files in a run's folder; the caller closes it."""
    archive = SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115 - see above
    with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=1) as tar:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _TEXTS and path.parent.name != "blobs" and path.is_file():
                tar.add(path, f"{folder.name}/{path.relative_to(folder)}")
    archive.seek(0)
    return archive


def _choose(attempts: list[Attempt], number: int | None) -> Attempt:
    if number is None:
        return attempts[-1]
    for attempt in attempts:
        if attempt.number == number:
            return attempt
    raise UnknownNameError.of("attempt", str(number), [str(choice.number) for choice in attempts])
