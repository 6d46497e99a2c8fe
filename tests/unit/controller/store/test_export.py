from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from controller.actions.space import Action
from controller.agents.driver import AgentDriver
from controller.models.usage import Usage
from controller.protocol import Turn
from controller.specification.run import trial_seed
from controller.store.export import (
    STEP_COLUMNS,
    TRIAL_COLUMNS,
    as_csv,
    as_jsonl,
    export_rows,
)
from tests.unit.controller.lab import killed

if TYPE_CHECKING:
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext
    from tests.unit.controller.lab import Lab

NOTE = 'It says "hello",\nand more.'


class Wordy:
    """Opens an application that does not exist, then completes, and writes diary entries."""

    def __init__(self, context: AgentContext) -> None:
        context.diary.write("plan", text=context.instruction)
        self._turns = [Action("fly", "phone"), Action("complete")]

    def act(self, observation: Observation) -> Turn:
        return Turn((self._turns.pop(0),), Usage(7, 3, 0.25), NOTE)


def test_every_attempt_is_a_row_and_every_line_an_event(lab: Lab) -> None:
    run = killed(lab)
    lab.use(AgentDriver(Wordy))
    lab.go(run)
    trials = [json.loads(line) for line in as_jsonl(export_rows(run, "trials"))]
    assert [tuple(row) for row in trials] == [TRIAL_COLUMNS] * 3
    outcomes = [(row["task"], row["attempt"], row["is_last"], row["reason"]) for row in trials]
    assert outcomes == [
        ("two-apps", 1, False, "lost"),
        ("two-apps", 2, True, "false_completion"),
        ("answer", 1, True, "false_completion"),
    ]
    last = trials[-1]
    assert (last["prompt_tokens"], last["completion_tokens"], last["usd"]) == (14, 6, 0.5)
    assert (last["seed"], last["agent"]) == (trial_seed(0, "answer", 0), "test")
    events = list(export_rows(run, "events"))
    assert len(events) == sum(
        len(attempt.events) for task in ("two-apps", "answer") for attempt in run.attempts(task, 0)
    )
    start, *_ = (row for row in events if row["type"] == "start" and row["task"] == "answer")
    assert start["instruction"] == lab.suite.task("answer").instruction
    assert start["seed"] == trial_seed(0, "answer", 0)
    assert {"plan"} == {row["kind"] for row in events if row["type"] == "agent"}


def test_steps_and_rejections_are_rows_with_pictures(lab: Lab) -> None:
    run = lab.begin(AgentDriver(Wordy), "answer")
    lab.go(run)
    text = "".join(as_csv(export_rows(run, "steps"), STEP_COLUMNS))
    refused, step = csv.DictReader(io.StringIO(text))
    assert (refused["type"], refused["n"], refused["do"], refused["on"]) == (
        "refused",
        "0",
        "fly",
        "phone",
    )
    assert "fly" in refused["why"]
    assert (step["type"], step["n"], step["do"], step["on"]) == ("step", "1", "complete", "")
    assert (step["note"], step["prompt_tokens"]) == (NOTE, "7")
    (digest,) = json.loads(refused["screens"]).values()
    assert (run.path / "blobs" / f"{digest}.png").exists()
