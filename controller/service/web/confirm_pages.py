"""The page on which a person confirms the actions of a run."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field

from controller.confirmations import answer, pending
from controller.episode.confirmation import MAX_REASON_CHARS, Answer
from controller.service.api.access import Context
from controller.service.web.session import Operating, Viewer
from controller.service.web.templating import page

router = APIRouter(include_in_schema=False)


class AnswerForm(BaseModel):
    """A person's answer to the question about one action."""

    task: str = Field(max_length=200)
    repeat: int = Field(ge=0)
    number: int = Field(ge=1)
    approve: bool = False
    reason: str = Field(default="", max_length=MAX_REASON_CHARS)


@router.get("/runs/{run}/confirmations")
def show_pending(run: str, context: Context, role: Viewer) -> HTMLResponse:
    """Show the actions that wait for approval; the page reloads itself while there are none."""
    folder = context.store.open(run)
    return page(
        "confirmations",
        role=role,
        context=context,
        run=folder.spec.run,
        rows=list(pending(folder)),
        is_running=folder.is_running(),
    )


@router.post("/runs/{run}/confirmations/answer", dependencies=[Operating])
def answer_one(run: str, context: Context, form: Annotated[AnswerForm, Form()]) -> Response:
    """Approve or decline an action."""
    reply = Answer(is_approved=form.approve, reason=form.reason)
    answer(context.store.open(run), form.task, form.repeat, form.number, reply)
    return RedirectResponse(f"/runs/{run}/confirmations", status_code=303)
