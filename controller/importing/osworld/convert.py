"""Make a task of ours from one of OSWorld's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.importing.draft import Draft
from controller.importing.errors import NotCarriedError
from controller.importing.osworld import documents, outputs, pictures, texts, workbooks
from controller.importing.osworld.afterwards import add_afterwards
from controller.importing.osworld.file import INFEASIBLE, read_osworld
from controller.importing.osworld.job import DESKTOP, Job, carry, check
from controller.importing.osworld.setup import add_setup
from controller.importing.osworld.table import mapping
from evaluators.model.task import INFEASIBLE_CHECK
from evaluators.strict import SESSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.importing.draft import Row
    from controller.importing.fixtures import Fixtures
    from controller.importing.json_source import JsonSource
    from controller.importing.osworld.file import Judgement

BENCHMARK = "osworld"
CARRYING = (documents, outputs, pictures, texts, workbooks)
"""Modules that carry over functions."""
_RESULT = "result"


def convert(source: JsonSource, fixtures: Fixtures, image: str = "") -> Draft:
    """Return a file of OSWorld as a task; what is missing or refused is in it.

    Args:
        source: the file.
        fixtures: the user's files.
        image: image of the desktops; empty for the default one.

    Raises:
        SpecError: the file does not have OSWorld's format; the error names file and line.
    """
    task, judgements = read_osworld(source)
    draft = Draft(
        id=task.id.lower(),
        instruction=task.instruction.strip(),
        origin=f"OSWorld, {task.id}",
        roles={DESKTOP: {"kind": DESKTOP, "image": image} if image else DESKTOP},
        tags=[BENCHMARK],
    )
    job = Job(task, draft, fixtures, image)
    _require_applications(job)
    add_setup(job)
    if any(judged.function == INFEASIBLE for judged in judgements):
        draft.infeasible = "OSWorld's authors say that this cannot be done."
        declared = check(INFEASIBLE_CHECK, on=SESSION)
        draft.graph = [{"id": "declared", **declared}]
        return draft
    _judge(job, judgements)
    add_afterwards(job, judgements)
    return draft


def _require_applications(job: Job) -> None:
    if job.task.proxy is True:
        job.draft.refuse("network", "the machine has a proxy to the live Internet")
    absent = set(mapping().applications_of_images)
    for name in job.task.related_apps:
        if name.lower() in absent and not job.image:
            job.draft.refuse("application", f"{name.lower()} is not on the desktop")


def _judge(job: Job, judgements: Sequence[Judgement]) -> None:
    """Add the node that decides the task."""
    groups: list[list[Row]] = []
    failed: list[NotCarriedError] = []
    for judged in judgements:
        try:
            groups.append(carry(job, judged))
        except NotCarriedError as exc:
            failed.append(exc)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as exc:
            text = f"{judged.function}: its arguments are not as published ({exc!r})"
            failed.append(NotCarriedError("option", text))
    is_choice = job.task.evaluator.conj == "or" and len(judgements) > 1
    for why in failed:
        if is_choice and groups:
            job.draft.miss(why.kind, f"one of several ways to pass: {why.brief}")
        else:
            job.draft.refuse(why.kind, why.brief)
    if job.draft.refusals or not groups:
        return
    try:
        job.draft.graph = [_either(groups) if is_choice else _all(groups)]
    except NotCarriedError as exc:
        job.draft.refuse(exc.kind, exc.brief)


def _unique(rows: Sequence[Row]) -> list[Row]:
    return [row for number, row in enumerate(rows) if row not in rows[:number]]


def _all(groups: Sequence[list[Row]]) -> Row:
    first, *others = _unique([row for group in groups for row in group])
    if others and any("or" in row for row in (first, *others)):
        raise NotCarriedError("option", "a choice of checks together with others")
    return {"id": _RESULT, **first, **({"and": others} if others else {})}


def _either(groups: Sequence[list[Row]]) -> Row:
    distinct = [group for number, group in enumerate(groups) if group not in groups[:number]]
    longest, *others = sorted(distinct, key=len, reverse=True)
    if any(len(group) > 1 for group in others) or any("or" in row for row in longest):
        raise NotCarriedError("option", "a choice of several checks each")
    node = _all([longest])
    alternatives = [group[0] for group in others]
    return {**node, **({"or": alternatives} if alternatives else {})}
