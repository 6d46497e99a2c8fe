"""The page of a trial, its log, its recordings, and its timeline as one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import FileResponse, HTMLResponse, StreamingResponse

from controller.service.api.access import Context
from controller.service.api.context import ApiContext
from controller.service.api.run_routes import Repeat, find_attempts
from controller.service.web.drawing.graph import draw_graph
from controller.service.web.session import Viewer
from controller.service.web.templating import page
from controller.service.web.trials.export import export_html
from controller.service.web.trials.timeline import PHASES, Timeline, embed, read_timeline
from controller.store.index import list_runs
from controller.store.runs import Attempt, RunFolder
from foundation.errors import UnknownNameError

router = APIRouter(include_in_schema=False)

_TRIAL = "/runs/{run}/trials/{task}/{repeat}"
_OTHERS = 40

Index = Annotated[int | None, Query(ge=0, le=10_000_000)]
Reference = Annotated[str, Query(max_length=400)]


@dataclass(frozen=True, slots=True)
class ChosenAttempt:
    """The attempt that a URL names.

    Attributes:
        run: the run's folder.
        task: id of the task.
        repeat: from 0.
        attempts: numbers of all attempts at this trial.
        attempt: the requested attempt; the last one by default.
    """

    run: RunFolder
    task: str
    repeat: int
    attempts: tuple[int, ...]
    attempt: Attempt

    @property
    def name(self) -> str:
        """Name of its files, without suffix."""
        return f"{self.run.spec.run}-{self.task}.{self.repeat}-attempt-{self.attempt.number}"

    def read(self) -> Timeline:
        """Read its log.

        Raises:
            StoreError: the log is damaged.
        """
        return read_timeline(self.run.spec.run, self.task, self.repeat, self.attempt)


def choose(
    _role: Viewer,
    run: str,
    task: str,
    repeat: Repeat,
    context: Context,
    attempt: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
) -> ChosenAttempt:
    """Return the attempt that a URL names; requires sign-in.

    Raises:
        SignInNeededError: the viewer is not signed in.
        UnknownNameError: there is no such run, trial or attempt.
    """
    return _choose(context, run, task, repeat, attempt)


Trial = Annotated[ChosenAttempt, Depends(choose)]


@router.get(_TRIAL)
def one_trial(
    trial: Trial, context: Context, role: Viewer, *, at: Index = None, beside: Reference = ""
) -> HTMLResponse:
    """Show a trial as a timeline, optionally side by side with another one."""
    timelines = [trial.read()]
    if beside:
        timelines.append(_find_reference(context, beside).read())
    return page(
        "trials/trial",
        role=role,
        context=context,
        trial=trial,
        line=timelines[0],
        views=[describe(line, at) for line in timelines],
        beside=beside,
        others=_others(context, trial),
    )


@router.get(f"{_TRIAL}/moments")
def more_moments(trial: Trial, *, first: Index = 0) -> dict[str, Any]:
    """Return the moments of a trial from an index on, for a page that follows it."""
    return trial.read().data(first=first or 0)


@router.get(f"{_TRIAL}/log")
def download_log(trial: Trial) -> FileResponse:
    """Return the event log of an attempt as it is on disk."""
    name = f"{trial.name}.jsonl"
    return FileResponse(trial.attempt.path, media_type="application/x-ndjson", filename=name)


@router.get(f"{_TRIAL}/export")
def download_page(trial: Trial) -> StreamingResponse:
    """Return the timeline of an attempt as one file, pictures included."""
    body = export_html(describe(trial.read(), None), trial.run.path / "blobs")
    headers = {"Content-Disposition": f'attachment; filename="{trial.name}.html"'}
    return StreamingResponse(body, media_type="text/html; charset=utf-8", headers=headers)


@router.get(f"{_TRIAL}/video/{{name}}")
def video(
    trial: Trial, name: Annotated[str, Path(pattern=r"^screen-[\w.-]{1,100}\.mp4$")]
) -> FileResponse:
    """Return the recording of one screen."""
    path = trial.attempt.path.parent / name
    if not path.is_file():
        raise UnknownNameError(f"This attempt has no recording {name!r}.")
    return FileResponse(path, media_type="video/mp4")


def describe(timeline: Timeline, at: int | None) -> dict[str, Any]:
    """Return the variables of the timeline's template.

    Args:
        timeline: timeline of an attempt.
        at: index of the moment shown first; the last one by default.
    """
    last = max(0, len(timeline.moments) - 1)
    index = last if at is None else min(at, last)
    moment = timeline.moments[index] if timeline.moments else None
    return {
        "timeline": timeline,
        "index": index,
        "last": last,
        "moment": moment,
        "drawing": draw_graph(timeline.shapes),
        "states": timeline.states_at(index),
        "data": embed(timeline.data()),
        "phases": PHASES,
    }


def _choose(
    context: ApiContext, run: str, task: str, repeat: int, number: int | None
) -> ChosenAttempt:
    folder = context.store.open(run)
    attempts = {attempt.number: attempt for attempt in find_attempts(folder, task, repeat)}
    number = max(attempts) if number is None else number
    if number not in attempts:
        raise UnknownNameError.of("attempt", str(number), map(str, attempts))
    return ChosenAttempt(folder, task, repeat, tuple(attempts), attempts[number])


def _find_reference(context: ApiContext, reference: str) -> ChosenAttempt:
    """Return the last attempt of the trial with a reference ``RUN/TASK/REPEAT``.

    Raises:
        UnknownNameError: there is no such trial.
    """
    run, _, rest = reference.partition("/")
    task, _, repeat = rest.rpartition("/")
    if not (task and repeat.isdecimal()):
        raise UnknownNameError(
            f"{reference!r} does not name a trial.", resolution="Use the form RUN/TASK/REPEAT."
        )
    return _choose(context, run, task, int(repeat), None)


def _others(context: ApiContext, trial: ChosenAttempt) -> list[str]:
    """Return other trials of the same task for a side-by-side view, latest first."""
    suite, own = trial.run.spec.suite.name, (trial.run.spec.run, trial.repeat)
    others: list[str] = []
    for row in reversed(list_runs(context.store)):
        if row.suite != suite or len(others) >= _OTHERS:
            continue
        others += [
            f"{row.run}/{task}/{repeat}"
            for task, repeat in context.store.open(row.run).spec.planned
            if task == trial.task and (row.run, repeat) != own
        ]
    return others[:_OTHERS]
