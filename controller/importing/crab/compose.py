"""Make a task of ours from one of CRAB's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from controller.importing.crab.file import read_crab
from controller.importing.crab.table import crab_subtasks
from controller.importing.crab.values import DESKTOP, HOME, Values, here, parent_to_make
from controller.importing.draft import Draft
from controller.importing.errors import NotCarriedError
from evaluators.strict import SESSION
from foundation.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.importing.crab.file import CrabSubtask, CrabTask
    from controller.importing.crab.table import TableSubtask
    from controller.importing.draft import Row
    from controller.importing.fixtures import Fixtures
    from controller.importing.json_source import JsonSource

BENCHMARK = "crab"
_OUR_HOME = "/home/user"
_OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class _Use:
    """A subtask in a task.

    Attributes:
        id: its name in the task; prefix of its nodes.
        given: what the file says.
        known: what the table says.
        before: numbers of the subtasks before it.
    """

    id: str
    given: CrabSubtask
    known: TableSubtask
    before: tuple[int, ...]


def compose(source: JsonSource, fixtures: Fixtures) -> Draft:
    """Return a file of CRAB as a task; what is missing or refused is in it.

    Raises:
        SpecError: the file does not have CRAB's format; the error names file and line.
    """
    task, order = read_crab(source)
    uses = _uses(source, task, order)
    draft = Draft(
        id=task.id.lower(),
        instruction=task.description.replace(HOME, _OUR_HOME).strip(),
        origin=f"CRAB Benchmark-v0, {task.id}",
        tags=[BENCHMARK],
    )
    made: set[str] = set()
    last: dict[int, list[str]] = {}
    for number in _in_order(order):
        use = uses[number]
        attributes = {**use.given.attribute, _OUTPUT: use.given.output or ""}
        values = Values(attributes, draft, fixtures, made)
        is_needed = any(number in other.before for other in uses)
        if _is_possible(draft, use, is_needed=is_needed):
            _prepare(draft, use, fixtures, made)
            before = [node for earlier in use.before for node in last.get(earlier, [])]
            last[number] = _add_nodes(draft, use, values, before)
        made.update(use.given.attribute[name] for name in use.known.makes)
    if not draft.refusals and not draft.graph:
        draft.refuse("action", "every checkpoint is the agent's own keystrokes")
    return draft


def _in_order(order: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the numbers of the subtasks so that each follows those before it."""
    done: list[int] = []
    while len(done) < len(order):
        done += [
            number
            for number in range(len(order))
            if number not in done and all(earlier in done for earlier in order[number])
        ][:1]
    return done


def _uses(source: JsonSource, task: CrabTask, order: Sequence[tuple[int, ...]]) -> list[_Use]:
    uses = []
    table = crab_subtasks()
    for number, given in enumerate(task.tasks):
        known = table.get(given.task)
        if known is None:
            near = UnknownNameError.of("subtask", given.task, table)
            raise source.error(
                ("tasks", number, "task"),
                f"there is no subtask {given.task!r}.",
                resolution=f"{near.resolution} docs/importing.md lists all of them.".strip(),
            )
        _check_attributes(source, number, given, known)
        uses.append(_Use(f"s{number + 1}", given, known, order[number]))
    return uses


def _check_attributes(
    source: JsonSource, number: int, given: CrabSubtask, known: TableSubtask
) -> None:
    wanted = ", ".join(known.attributes) or "none"
    where = ("tasks", number, "attribute")
    for name in known.attributes:
        if not given.attribute.get(name):
            raise source.error(
                where,
                f"the attribute {name!r} of the subtask {known.title!r} is missing.",
                resolution=f"Its attributes are: {wanted}.",
            )
    for name in given.attribute:
        if name not in known.attributes:
            raise source.error(
                (*where, name),
                f"the subtask {known.title!r} has no attribute {name!r}.",
                resolution=f"Its attributes are: {wanted}.",
            )


def _is_possible(draft: Draft, use: _Use, *, is_needed: bool) -> bool:
    """Note why a subtask cannot be imported; return whether it can."""
    known = use.known
    if known.why:
        draft.refuse(known.why[0], f"{known.title}: {known.why[1]}")
        return False
    if known.output and not use.given.output:
        draft.refuse("state", f"{known.title}: the file has no output, so nothing to find")
        return False
    if not known.shows_result and not is_needed:
        out = next(node.out for node in known.nodes if node.result and node.out)
        draft.refuse(out[0], f"{known.title}: its result is only {out[1]}")
        return False
    return True


def _prepare(draft: Draft, use: _Use, fixtures: Fixtures, made: set[str]) -> None:
    """Add roles, files, folders and network access that a subtask needs."""
    known, attributes = use.known, use.given.attribute
    if known.on != SESSION:
        draft.roles.setdefault(known.on, known.on)
    for name in known.needs:
        path = attributes[name]
        if not any(path == other or path.startswith(f"{other}/") for other in made):
            text = use.given.output if name == known.tells else None
            _place(draft, use, fixtures, path, text)
    for name in known.makes:
        folder = parent_to_make(attributes[name])
        row: Row = {"on": DESKTOP, "do": "make_dir", "with": {"path": folder}}
        if folder and row not in draft.setup:
            draft.setup.append(row)
    if known.download:
        parts = urlsplit(attributes[known.download])
        port = parts.port or {"http": 80}.get(parts.scheme, 443)
        draft.egress.setdefault(DESKTOP, []).append(f"{parts.hostname}:{port}")
    if known.category:
        draft.applications[known.app] = known.category
    if known.note:
        draft.remark("option", f"{known.title}: {known.note}")


def _place(draft: Draft, use: _Use, fixtures: Fixtures, path: str, text: str | None) -> None:
    """Add what a machine of CRAB has at a path: the user's file, or a text if it is known."""
    try:
        draft.place(DESKTOP, fixtures.of_path(path, HOME), here(path))
    except NotCarriedError as exc:
        if not text:
            draft.refuse(exc.kind, f"{use.known.title}: {exc.brief}")
            return
        args: Row = {"path": here(path), "content": text}
        draft.setup.append({"on": DESKTOP, "do": "put_file", "with": args})


def _add_nodes(draft: Draft, use: _Use, values: Values, before: Sequence[str]) -> list[str]:
    """Add the setup and nodes of a subtask; return the id of its last node, as CRAB's are chains."""
    ids: list[str] = []
    try:
        draft.setup += [values.fill_row(step) for step in use.known.setup]
        for node in use.known.nodes:
            if node.out:
                draft.miss(node.out[0], f"{use.known.title}: {node.out[1]} ({node.crab})")
                continue
            row: Row = {
                "id": f"{use.id}-{node.id}",
                "on": use.known.on,
                "check": node.check,
                "with": values.fill(node.args),
                "mode": "once",
                "after": [ids[-1]] if ids else list(before),
            }
            if use.known.app:
                row["app"] = use.known.app
            draft.graph.append({key: value for key, value in row.items() if value != []})
            ids.append(f"{use.id}-{node.id}")
    except NotCarriedError as exc:
        draft.refuse(exc.kind, f"{use.known.title}: {exc.brief}")
    if not ids:
        return list(before)
    part: Row = {
        "id": use.id,
        "subtask": use.known.id.lower(),
        "app": use.known.app,
        "nodes": list(ids),
    }
    draft.parts.append(part)
    if use.known.on == SESSION and not draft.roles:
        draft.roles[DESKTOP] = DESKTOP
    return ids[-1:]
