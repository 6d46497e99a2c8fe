"""Progress as server-sent events: one event whenever a run of the queue changes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from controller.service.api.access import AccessError, Context, Reader
from controller.service.api.models import queued_run

router = APIRouter(prefix="/api/v1", tags=["events"], dependencies=[Reader])

MAX_STREAMS = 32
_POLL_S = 0.5
_COMMENT_EVERY = 30
_streams = threading.BoundedSemaphore(MAX_STREAMS)


@router.get("/events", response_class=EventSourceResponse)
async def follow(
    context: Context,
    last_event_id: Annotated[str, Header(max_length=20)] = "",
    since: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Follow the queue: one ``run`` event per change after `since` or after the last event's id."""
    if not _streams.acquire(blocking=False):
        raise AccessError(
            429, f"The limit of {MAX_STREAMS} event streams is reached.", retry_after_s=10
        )
    try:
        seen = int(last_event_id) if last_event_id.isdecimal() else since
        idle = 0
        while not context.stop.is_set():
            rows = await run_in_threadpool(context.queue.changed_since, seen)
            for row in rows:
                seen = row.change
                yield ServerSentEvent(
                    event="run", id=str(seen), data=queued_run(row).model_dump(mode="json")
                )
            idle = 0 if rows else idle + 1
            if idle % _COMMENT_EVERY == _COMMENT_EVERY - 1:
                yield ServerSentEvent(comment="still here")
            if not rows:
                await asyncio.sleep(_POLL_S)
    finally:
        _streams.release()
