"""Export runs as rows for other programs: trials, steps or all events, as JSONL or CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any, Literal

from controller.specification.run import trial_seed
from controller.store.schema import member_of, usage_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from controller.episode.result import TrialResult
    from controller.store.runs import Attempt, RunFolder

Rows = Literal["trials", "steps", "events"]
Format = Literal["jsonl", "csv"]

TRIAL_COLUMNS = (
    "run", "suite", "agent", "model", "task", "repeat", "attempt", "is_last", "seed", "started_s",
    "verdict", "reason", "detail", "nodes_met", "nodes", "steps", "seconds", "agent_seconds",
    "prompt_tokens", "completion_tokens", "usd", "side_effects",
)  # fmt: skip
STEP_COLUMNS = (
    "run", "task", "repeat", "attempt", "t", "type", "n", "member", "on", "do", "with", "why", "met",
    "screens", "note", "prompt_tokens", "completion_tokens", "agent_s",
)  # fmt: skip


def export_rows(folder: RunFolder, rows: Rows) -> Iterator[dict[str, Any]]:
    """Yield the rows of a run in the planned order, for all attempts, oldest first.

    Args:
        folder: the run's folder.
        rows: ``trials``: one row per attempt; ``steps``: one row per executed or rejected action;
            ``events``: every line of the logs, unchanged.

    Raises:
        StoreError: a log is damaged.
    """
    for task, repeat in folder.spec.planned:
        attempts = folder.attempts(task, repeat)
        for attempt in attempts:
            named = {"run": folder.spec.run, "task": task, "repeat": repeat}
            named["attempt"] = attempt.number
            if rows == "trials":
                yield _trial_row(folder, named, attempt, is_last=attempt is attempts[-1])
            elif rows == "steps":
                yield from _step_rows(named, attempt)
            else:
                yield from ({**event, **named} for event in attempt.events)


def as_jsonl(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield each row as a line of JSON."""
    for row in rows:
        yield json.dumps(row, separators=(",", ":")) + "\n"


def as_csv(rows: Iterable[dict[str, Any]], columns: tuple[str, ...]) -> Iterator[str]:
    """Yield a header line and a line for each row; lists and objects are JSON."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    yield _taken(out)
    for row in rows:
        writer.writerow({name: _cell(row.get(name)) for name in columns})
        yield _taken(out)


def _taken(out: io.StringIO) -> str:
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text


def _cell(value: object) -> object:
    if isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"))
    return int(value) if isinstance(value, bool) else value


def _trial_row(
    folder: RunFolder, named: dict[str, Any], attempt: Attempt, *, is_last: bool
) -> dict[str, Any]:
    spec, events = folder.spec, attempt.events
    row = {
        **named,
        "suite": spec.suite.name,
        "agent": spec.agent_name,
        "model": spec.model_name or None,
        "is_last": is_last,
        "seed": trial_seed(spec.seed, named["task"], named["repeat"]),
        "started_s": events[0].get("t") if events else None,
        **_result_columns(attempt.result),
    }
    return {name: row[name] for name in TRIAL_COLUMNS}


def _result_columns(result: TrialResult | None) -> dict[str, Any]:
    """Return the columns of a result; an attempt without a result has the reason ``lost``."""
    if result is None:
        return {**dict.fromkeys(TRIAL_COLUMNS[10:]), "reason": "lost"}
    effects = result.side_effects
    return {
        "verdict": result.verdict.value,
        "reason": result.reason.value,
        "detail": result.detail,
        "nodes_met": result.nodes_met,
        "nodes": result.nodes,
        "steps": result.steps,
        "seconds": result.seconds,
        "agent_seconds": result.agent_seconds,
        "prompt_tokens": result.usage.input_tokens,
        "completion_tokens": result.usage.output_tokens,
        "usd": result.usage.usd,
        "side_effects": None if effects is None else effects.count,
    }


def _step_rows(named: dict[str, Any], attempt: Attempt) -> Iterator[dict[str, Any]]:
    for event in attempt.events:
        if event["type"] not in {"step", "refused"}:
            continue
        action, usage = event.get("action") or {}, usage_in(event)
        row = {
            **{name: event.get(name) for name in STEP_COLUMNS},
            **{name: action.get(name) for name in ("on", "do", "with")},
            "member": member_of(event),
            "prompt_tokens": usage and usage.input_tokens,
            "completion_tokens": usage and usage.output_tokens,
        }
        yield row | named
